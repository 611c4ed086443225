/** Whether this is Cloudflare Workers, the only runtime with this global. */
export const onWorkers: boolean = 'WebSocketPair' in globalThis
