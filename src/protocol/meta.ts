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

/** The id of the official extension for tasks. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

/**
 * The member of a tool in which lists keep whether its calls may become tasks. Only 2025-11-25 shows it, so it has a name that JSON
 * leaves out.
 */
export const TASK_SUPPORT: unique symbol = Symbol('taskSupport')

/** Our own prefix for `_meta` keys, error data and extensions. */
export const VENDOR = 'dev.pierhead'

/** The method of our extension that calls a tool and streams its output. Clients treat it as `tools/call`. */
export const STREAMED_CALL = 'dev.pierhead/tools/stream'

/** The `_meta` key of resource annotations that the protocol does not define. */
export const FREE_ANNOTATIONS = 'dev.pierhead/annotations'

/** The `_meta` key of descriptions of completed values, in the order of the values. */
export const DESCRIPTIONS = 'dev.pierhead/descriptions'

/**
 * The `_meta` key of a tool result whose structured content has another form than the tool returned, because its revision
 * lacks that form: `result` if it was wrapped as `{ result }`, `text` if only the text block has it, as JSON.
 */
export const STRUCTURED = 'dev.pierhead/structured'

/** Why authors may not use a `_meta` key; undefined if they may. */
export function metaKeyProblem(key: string): string | undefined {
  const at = key.indexOf('/')
  const prefix = at < 0 ? undefined : key.slice(0, at)
  const name = key.slice(at + 1)
  if (name !== '' && !NAME.test(name))
    return 'a name starts and ends with a letter or digit and otherwise contains only letters, digits, - _ and .'
  if (prefix === undefined) return undefined
  const labels = prefix.split('.')
  if (!labels.every((label) => LABEL.test(label)))
    return 'a prefix consists of labels of letters, digits and hyphens, joined by dots'
  return labels[1] === 'modelcontextprotocol' || labels[1] === 'mcp'
    ? 'its prefix is reserved for the protocol; use the name of a domain of your own'
    : undefined
}

const LABEL = /^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/
