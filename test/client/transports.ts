/** The transports over which every scenario of the client runs. */
export const TRANSPORTS = ['memory', 'stdio', 'http', 'sse', 'ws', 'tcp', 'tls', 'unix'] as const
export type Transport = (typeof TRANSPORTS)[number]
