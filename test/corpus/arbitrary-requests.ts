import fc from 'fast-check'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import { shapesOf, type Shapes } from './arbitrary-shapes.ts'
import { choice, list, map, object, plain, text, token, uri } from './arbitrary-values.ts'

type Shape = fc.Arbitrary<JsonObject>
export type RequestArbitraries = Readonly<Record<string, { readonly params: Shape; readonly result: Shape }>>

/** Arbitraries for the params and the result of every request of a revision. */
export function requestsOf(revision: Revision): RequestArbitraries {
  const shapes = shapesOf(revision)
  return {
    ...featuresOf(revision, shapes),
    ...questionsOf(revision, shapes),
    ...(revision === '2026-07-28' ? newestOf(shapes) : handshakeOf(revision, shapes)),
    ...(revision === '2025-11-25' ? tasksOf(shapes) : {}),
    ...(revision === '2026-07-28' ? extensionTasksOf(shapes) : {}),
  }
}

function featuresOf(revision: Revision, shapes: Shapes): RequestArbitraries {
  const { meta, json, tool, resource, template, prompt, contents, content, role } = shapes
  const _meta = paramsMeta(meta)
  const newest = revision === '2026-07-28'
  const round = newest ? { requestState: text, inputResponses: map(choice({ action: 'decline' })) } : {}
  const hints = newest ? { ttlMs: fc.nat(), cacheScope: choice('public', 'private') } : {}
  const pages = (name: string, item: Shape): { params: Shape; result: Shape } => ({
    params: object({}, { cursor: text, _meta }),
    result: object({ [name]: list(item) }, { nextCursor: text, ...hints, _meta: meta }),
  })
  const titled = revision >= '2025-06-18'
  const structured = titled ? { structuredContent: newest ? json : map(json) } : {}
  const prompted = object({ type: choice('ref/prompt'), name: text }, titled ? { title: text } : {})
  return {
    'tools/list': pages('tools', tool),
    'tools/call': {
      params: object({ name: text }, { arguments: map(json), ...round, _meta }),
      result: object({ content: list(content) }, { isError: fc.boolean(), ...structured, _meta: meta }),
    },
    'resources/list': pages('resources', resource),
    'resources/templates/list': pages('resourceTemplates', template),
    'resources/read': {
      params: object({ uri }, { ...round, _meta }),
      result: object({ contents: list(contents) }, { ...hints, _meta: meta }),
    },
    'prompts/list': pages('prompts', prompt),
    'prompts/get': {
      params: object({ name: text }, { arguments: map(text), ...round, _meta }),
      result: object({ messages: list(object({ role, content })) }, { description: text, _meta: meta }),
    },
    'completion/complete': {
      params: object(
        {
          ref: fc.oneof(prompted, object({ type: choice('ref/resource'), uri })),
          argument: object({ name: text, value: text }),
        },
        { ...(titled ? { context: object({}, { arguments: map(text) }) } : {}), _meta },
      ),
      result: object(
        { completion: object({ values: list(text) }, { total: fc.nat(), hasMore: fc.boolean() }) },
        { _meta: meta },
      ),
    },
  }
}

function questionsOf(revision: Revision, shapes: Shapes): RequestArbitraries {
  const { meta, tool, samplingMessage, samplingContent, role, root, field } = shapes
  const newest = revision === '2026-07-28'
  const tools =
    revision >= '2025-11-25' ? { tools: list(tool), toolChoice: choice({ mode: 'auto' }, {}) } : {}
  const several = revision >= '2025-11-25' ? [list(text)] : []
  const requestedSchema = object({ type: choice('object'), properties: map(field) }, { required: list(text) })
  const optional = newest ? {} : { _meta: meta }
  return {
    'sampling/createMessage': {
      params: object(
        { messages: list(samplingMessage), maxTokens: fc.nat() },
        {
          systemPrompt: text,
          temperature: fc.nat(2),
          stopSequences: list(text),
          metadata: map(plain),
          ...tools,
        },
      ),
      result: object({ role, content: samplingContent, model: text }, { stopReason: text, _meta: meta }),
    },
    'roots/list': { params: object({}, { _meta: meta }), result: object({ roots: list(root) }, optional) },
    ...(revision >= '2025-06-18'
      ? {
          'elicitation/create': {
            params: object({ message: text, requestedSchema }),
            result: object(
              { action: choice('accept', 'decline', 'cancel') },
              { content: map(fc.oneof(text, fc.integer(), fc.boolean(), ...several)), ...optional },
            ),
          },
        }
      : {}),
  }
}

function handshakeOf(revision: Revision, shapes: Shapes): RequestArbitraries {
  const { meta, level, implementation, clientCapabilities, serverCapabilities } = shapes
  const _meta = paramsMeta(meta)
  const result = object({}, { _meta: meta })
  const protocolVersion = choice(revision)
  return {
    initialize: {
      params: object(
        { protocolVersion, capabilities: clientCapabilities, clientInfo: implementation },
        { _meta },
      ),
      result: object(
        { protocolVersion, capabilities: serverCapabilities, serverInfo: implementation },
        { instructions: text, _meta: meta },
      ),
    },
    ping: { params: object({}, { _meta }), result },
    'resources/subscribe': { params: object({ uri }, { _meta }), result },
    'resources/unsubscribe': { params: object({ uri }, { _meta }), result },
    'logging/setLevel': { params: object({ level }, { _meta }), result },
  }
}

function newestOf({ meta, serverCapabilities }: Shapes): RequestArbitraries {
  const _meta = paramsMeta(meta)
  return {
    'server/discover': {
      params: object({}, { _meta }),
      result: object(
        { supportedVersions: list(text), capabilities: serverCapabilities },
        { instructions: text },
      ),
    },
    'subscriptions/listen': {
      params: object(
        { notifications: object({}, { toolsListChanged: fc.boolean(), resourceSubscriptions: list(uri) }) },
        { _meta },
      ),
      result: object({}),
    },
  }
}

function extensionTasksOf({ task, meta }: Shapes): RequestArbitraries {
  const params = object({ taskId: text }, {})
  const empty = object({}, { _meta: meta })
  return {
    'tasks/get': { params, result: task },
    'tasks/update': { params: object({ taskId: text, inputResponses: fc.constant({}) }, {}), result: empty },
    'tasks/cancel': { params, result: empty },
  }
}

function tasksOf({ task, content, meta }: Shapes): RequestArbitraries {
  const params = object({ taskId: text })
  return {
    'tasks/get': { params, result: task },
    'tasks/cancel': { params, result: task },
    'tasks/list': {
      params: object({}, { cursor: text }),
      result: object({ tasks: list(task) }, { nextCursor: text }),
    },
    'tasks/result': { params, result: object({ content: list(content) }, { _meta: meta }) },
  }
}

/** The metadata of a request: `progressToken` has a type of its own. */
function paramsMeta(meta: Shape): Shape {
  return fc
    .tuple(meta, fc.option(token, { nil: undefined }))
    .map(([others, progressToken]) => (progressToken === undefined ? others : { ...others, progressToken }))
}
