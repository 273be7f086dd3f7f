/** The entry of the page: it is painted before any other script runs. A page that is not seen is not painted. */
const start = () => void import("./main.js");
if (document.hidden) start();
else requestAnimationFrame(() => setTimeout(start));
