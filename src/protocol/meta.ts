/** The keys of `_meta` that the protocol defines. */
// oxfmt-ignore
export const META = {
  progressToken:      'progressToken',
  protocolVersion:    'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo:         'io.modelcontextprotocol/clientInfo',
  logLevel:           'io.modelcontextprotocol/logLevel',
  serverInfo:         'io.modelcontextprotocol/serverInfo',
  subscriptionId:     'io.modelcontextprotocol/subscriptionId',
  relatedTask:        'io.modelcontextprotocol/related-task',
} as const

/** Our own prefix for `_meta` keys, error data and extensions. */
export const VENDOR = 'dev.pierhead'
