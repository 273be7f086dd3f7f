// Streams: threads that run operations in their order, as early or as late as STANDIN_ORDER says.
#pragma once
#include <signal.h>

#include <deque>
#include <functional>
#include <thread>

#include "memory.h"

class Stream : public std::enable_shared_from_this<Stream> {
public:
    /* A place in a stream: all operations up to it. */
    struct Place {
        std::shared_ptr<Stream> stream;
        u64 count = 0;
        void wait() const { if (stream) stream->wait(count); }
        bool passed() const { return !stream || stream->passed(count); }
    };
    Device *device;
    bool blocking;  // waits for the default stream, and the default stream for this one
    static inline std::atomic<u64> made{0};
    u64 number = made++;

    Stream(Device *device, bool blocking) : device(device), blocking(blocking) {}
    ~Stream() {
        if (worker.get_id() == std::this_thread::get_id()) worker.detach();
        else if (worker.joinable()) worker.join();
    }
    Place end() {
        std::lock_guard<std::mutex> held(lock);
        return {shared_from_this(), pushed};
    }
    /* Append an operation; `urgent` ones are never held: others may wait for them unseen. */
    Place push(std::function<void()> work, bool urgent = false) {
        std::lock_guard<std::mutex> held(lock);
        waiting.push_back(std::move(work));
        pushed++;
        if (urgent) released = pushed;
        if (!worker.joinable()) {  // the thread keeps the stream until it ends
            auto self = shared_from_this();
            worker = std::thread([self] { self->serve(); });
        }
        changed.notify_all();
        return {shared_from_this(), pushed};
    }
    /* Wait for an operation, which the order then holds no longer. */
    void wait(u64 count) {
        std::unique_lock<std::mutex> held(lock);
        released = std::max(released, count);
        changed.notify_all();
        changed.wait(held, [&] { return done >= count; });
    }
    /* A program that asks again and again makes the stream go on. */
    bool passed(u64 count) {
        std::unique_lock<std::mutex> held(lock);
        if (done >= count) return true;
        u64 before = done;
        released = std::max(released, done + 1);
        changed.notify_all();
        if (settings().order != EAGER)
            changed.wait_for(held, std::chrono::milliseconds(20), [&] { return done > before; });
        return done >= count;
    }
    /* End after the last operation, without waiting for it. */
    void close() {
        std::lock_guard<std::mutex> held(lock);
        released = pushed;
        closed = true;
        changed.notify_all();
    }

private:
    std::mutex lock;
    std::condition_variable changed;
    std::deque<std::function<void()>> waiting;
    u64 pushed = 0, released = 0, done = 0;
    bool closed = false;
    std::thread worker;

    bool held_back(u64 operation) const {
        if (settings().order != RANDOM) return settings().order == LATE;
        u64 random = (settings().seed * 1000003 + number) * 1000003 + operation;
        random = (random ^ random >> 31) * 0x9E3779B97F4A7C15ull;
        return random >> 63;
    }
    void serve() {
        sigset_t all;  // signals are for Python's threads
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);
        std::unique_lock<std::mutex> held(lock);
        for (;;) {
            changed.wait(held, [this] {
                return waiting.empty() ? closed : done < released || !held_back(done);
            });
            if (waiting.empty()) return;
            auto work = std::move(waiting.front());
            waiting.pop_front();
            held.unlock();
            work();
            work = nullptr;
            held.lock();
            done++;
            changed.notify_all();
        }
    }
};

using Place = Stream::Place;

static std::shared_ptr<Stream> main_stream(Device *device) {
    std::lock_guard<std::mutex> held(world().lock);
    if (!device->main) device->main = std::make_shared<Stream>(device, true);
    return device->main;
}

/* The ends of a device's streams, of the blocking ones or of all. */
static std::vector<Place> ends(Device *device, bool all) {
    std::vector<Place> found;
    std::lock_guard<std::mutex> held(world().lock);
    for (auto &stream : device->streams)
        if (all || stream->blocking) found.push_back(stream->end());
    return found;
}
static void drain(Device *device) {
    for (auto &place : ends(device, true)) place.wait();
    main_stream(device)->end().wait();
}

/* The stream of a handle: the device's default stream for 0, 1 and 2; null if there is none. */
static std::shared_ptr<Stream> stream_of(Device *device, CUstream handle) {
    if ((u64)handle <= 2) return main_stream(device);
    std::lock_guard<std::mutex> held(world().lock);
    for (auto &each : world().devices)
        for (auto &stream : each->streams)
            if (stream.get() == (Stream *)handle) return stream;
    return nullptr;
}

/* Append work to a stream; it is left out once the device has failed. */
static Place submit(const std::shared_ptr<Stream> &stream, std::function<void()> work, bool urgent = false) {
    Device *device = stream->device;
    auto main = main_stream(device);
    std::vector<Place> before;
    if (stream == main) before = ends(device, false);
    else if (stream->blocking) before.push_back(main->end());
    Place end = stream->push([=] {
        for (auto &place : before) place.wait();
        if (!device->error) work();
    }, urgent);
    if (settings().order == SYNCHRONOUS) end.wait();
    return end;
}
