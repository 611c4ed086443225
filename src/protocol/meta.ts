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

/** Where annotations of a resource are that the protocol does not know. */
export const FREE_ANNOTATIONS = 'dev.pierhead/annotations'

/** Where the descriptions of completed values are, in the order of the values. */
export const DESCRIPTIONS = 'dev.pierhead/descriptions'

/** Why a `_meta` key may not be used by an author; undefined when it may. */
export function metaKeyProblem(key: string): string | undefined {
  const at = key.indexOf('/')
  const prefix = at < 0 ? undefined : key.slice(0, at)
  const name = key.slice(at + 1)
  if (name !== '' && !NAME.test(name))
    return 'a name begins and ends with a letter or digit, with - _ . inside'
  if (prefix === undefined) return undefined
  const labels = prefix.split('.')
  if (!labels.every((label) => LABEL.test(label)))
    return 'a prefix is labels of letters, digits and hyphens, joined by dots'
  return labels[1] === 'modelcontextprotocol' || labels[1] === 'mcp'
    ? 'its prefix is reserved for the protocol'
    : undefined
}

const LABEL = /^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/
