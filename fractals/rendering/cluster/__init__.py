"""Many machines: a job's parts computed by the workers of a cluster.

`job` says what is computed, `worker` holds what runs on the workers, `pools` reaches them, and
`dispatch` hands out the parts. Dask is imported only where an address or a client is given.
"""
