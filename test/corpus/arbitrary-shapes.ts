import fc from 'fast-check'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import {
  base64,
  choice,
  fraction,
  json,
  list,
  map,
  moment,
  object,
  plain,
  text,
  uri,
} from './arbitrary-values.ts'

type Fields = Readonly<Record<string, fc.Arbitrary<unknown>>>
type Shape = fc.Arbitrary<JsonObject>

export interface Shapes {
  readonly json: fc.Arbitrary<unknown>
  readonly meta: Shape
  readonly level: fc.Arbitrary<string>
  readonly role: fc.Arbitrary<string>
  readonly implementation: Shape
  readonly clientCapabilities: Shape
  readonly serverCapabilities: Shape
  readonly tool: Shape
  readonly resource: Shape
  readonly template: Shape
  readonly prompt: Shape
  readonly contents: Shape
  readonly content: Shape
  readonly samplingMessage: Shape
  readonly samplingContent: fc.Arbitrary<unknown>
  readonly root: Shape
  readonly field: Shape
  readonly task: Shape
}

/** Arbitraries for the objects that several messages of a revision share. */
export function shapesOf(revision: Revision): Shapes {
  /** Members that the revision has since another one. */
  const since = (first: Revision, fields: Fields): Fields => (revision >= first ? fields : {})
  const meta = map(json)
  const role = choice('user', 'assistant')
  const annotations = object(
    {},
    { audience: list(role), priority: fraction, ...since('2025-06-18', { lastModified: moment }) },
  )
  const icon = object({ src: uri }, { mimeType: text, sizes: list(text), theme: choice('light', 'dark') })
  const named = {
    ...since('2025-06-18', { title: text, _meta: meta }),
    ...since('2025-11-25', { icons: list(icon) }),
  }
  const about = { description: text, mimeType: text, annotations, ...named }
  const described = { annotations, ...since('2025-06-18', { _meta: meta }) }
  const kept = since('2025-06-18', { _meta: meta })
  const contents = fc.oneof(
    object({ uri, text }, { mimeType: text, ...kept }),
    object({ uri, blob: base64 }, { mimeType: text, ...kept }),
  )
  const words = object({ type: choice('text'), text }, described)
  const media = (type: string): Shape =>
    object({ type: choice(type), data: base64, mimeType: text }, described)
  const heard = revision >= '2025-03-26' ? [media('audio')] : []
  const linked =
    revision >= '2025-06-18'
      ? [object({ type: choice('resource_link'), uri, name: text }, { size: fc.nat(), ...about })]
      : []
  const embedded = object({ type: choice('resource'), resource: contents }, described)
  const content = fc.oneof(words, media('image'), ...heard, ...linked, embedded)
  const samplingContent = samplingOf(revision, fc.oneof(words, media('image'), ...heard), content, meta)
  const hints = { readOnlyHint: fc.boolean(), openWorldHint: fc.boolean(), title: text }
  return {
    json,
    meta,
    role,
    level: choice('debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'),
    implementation: object(
      { name: text, version: text },
      {
        ...since('2025-06-18', { title: text }),
        ...since('2025-11-25', { description: text, websiteUrl: uri, icons: list(icon) }),
      },
    ),
    clientCapabilities: clientOf(revision),
    serverCapabilities: serverOf(revision),
    tool: object(
      { name: text, inputSchema: inputOf(revision) },
      {
        description: text,
        ...named,
        ...since('2025-03-26', { annotations: object({}, hints) }),
        ...since('2025-06-18', { outputSchema: outputOf(revision) }),
        ...(revision === '2025-11-25'
          ? { execution: object({}, { taskSupport: choice('forbidden', 'optional') }) }
          : {}),
      },
    ),
    resource: object({ uri, name: text }, { size: fc.nat(), ...about }),
    template: object({ uriTemplate: uri, name: text }, about),
    prompt: object(
      { name: text },
      {
        description: text,
        arguments: list(
          object(
            { name: text },
            { description: text, required: fc.boolean(), ...since('2025-06-18', { title: text }) },
          ),
        ),
        ...named,
      },
    ),
    contents,
    content,
    samplingMessage: object({ role, content: samplingContent }, since('2025-11-25', { _meta: meta })),
    samplingContent,
    root: object({ uri: choice('file:///srv') }, { name: text, ...kept }),
    field: fieldOf(revision),
    task: taskOf(revision),
  }
}

/** A task in the names of the revision; those of 2026-07-28 have more if they are completed. */
function taskOf(revision: Revision): Shape {
  const facts = { taskId: text, createdAt: text, lastUpdatedAt: text }
  const ttl = fc.oneof(fc.nat(), fc.constant(null))
  return revision === '2026-07-28'
    ? object(
        { ...facts, status: choice('working', 'cancelled'), ttlMs: ttl },
        { statusMessage: text, pollIntervalMs: fc.nat() },
      )
    : object(
        { ...facts, status: choice('working', 'completed'), ttl },
        { statusMessage: text, pollInterval: fc.nat() },
      )
}

function samplingOf(revision: Revision, block: Shape, content: Shape, meta: Shape): fc.Arbitrary<unknown> {
  if (revision < '2025-11-25') return block
  const structuredContent = revision === '2026-07-28' ? json : map(json)
  const use = object({ type: choice('tool_use'), id: text, name: text, input: map(json) }, { _meta: meta })
  const result = object(
    { type: choice('tool_result'), toolUseId: text, content: list(content) },
    { structuredContent, isError: fc.boolean(), _meta: meta },
  )
  const any = fc.oneof(block, use, result)
  return fc.oneof(any, list(any))
}

function clientOf(revision: Revision): Shape {
  const settings = map(plain)
  const modes = revision >= '2025-11-25'
  return object(
    {},
    {
      experimental: map(settings),
      roots: revision === '2026-07-28' ? choice({}) : object({}, { listChanged: fc.boolean() }),
      sampling: modes ? object({}, { tools: settings, context: settings }) : settings,
      ...(revision >= '2025-06-18'
        ? { elicitation: modes ? object({}, { form: settings, url: settings }) : settings }
        : {}),
      ...(revision === '2025-11-25' ? { tasks: object({}, { list: settings, cancel: settings }) } : {}),
      ...(revision === '2026-07-28' ? { extensions: map(settings) } : {}),
    },
  )
}

function serverOf(revision: Revision): Shape {
  const settings = map(plain)
  const listChanged = fc.boolean()
  return object(
    {},
    {
      experimental: map(settings),
      logging: settings,
      prompts: object({}, { listChanged }),
      resources: object({}, { listChanged, subscribe: fc.boolean() }),
      tools: object({}, { listChanged }),
      ...(revision >= '2025-03-26' ? { completions: settings } : {}),
      ...(revision === '2025-11-25' ? { tasks: object({}, { list: settings, cancel: settings }) } : {}),
      ...(revision === '2026-07-28' ? { extensions: map(settings) } : {}),
    },
  )
}

function inputOf(revision: Revision): Shape {
  const property = object({}, { type: choice('string', 'number'), description: text, default: json })
  const either = revision === '2026-07-28' ? fc.oneof(property, fc.boolean()) : property
  return object({ type: choice('object') }, { properties: map(either), required: list(text) })
}

function outputOf(revision: Revision): fc.Arbitrary<unknown> {
  if (revision < '2026-07-28') return inputOf(revision)
  return fc.oneof(
    inputOf(revision),
    choice<unknown>(
      {},
      { type: 'string' },
      { type: ['object', 'null'], properties: { next: { $ref: '#' } } },
      { type: 'array', items: { $ref: '#/$defs/item' }, $defs: { item: { type: 'integer' } } },
      { anyOf: [{ type: 'object' }, { $ref: '#/$defs/other' }], $defs: { other: { type: 'object' } } },
      { $schema: 'https://json-schema.org/draft/2020-12/schema', enum: [1, 'a', null] },
    ),
  )
}

function fieldOf(revision: Revision): Shape {
  const rich = revision >= '2025-11-25'
  const preset = (value: fc.Arbitrary<unknown>): Fields => (rich ? { default: value } : {})
  const about = { title: text, description: text }
  const option = object({ const: text, title: text })
  const values = fc.uniqueArray(text, { minLength: 1, maxLength: 3 })
  const simple = [
    object(
      { type: choice('string') },
      { ...about, minLength: fc.nat(), format: choice('email', 'uri', 'date'), ...preset(text) },
    ),
    object(
      { type: choice('number', 'integer') },
      { ...about, minimum: fc.integer(), maximum: fc.integer(), ...preset(fc.integer()) },
    ),
    object({ type: choice('boolean') }, { ...about, default: fc.boolean() }),
    object({ type: choice('string'), enum: values }, { ...about, enumNames: values, ...preset(text) }),
  ]
  if (!rich) return fc.oneof(...simple)
  const bounds = { minItems: fc.nat(3), maxItems: fc.nat(3), default: list(text) }
  return fc.oneof(
    ...simple,
    object({ type: choice('string'), oneOf: list(option) }, { ...about, default: text }),
    object(
      { type: choice('array'), items: object({ type: choice('string'), enum: values }) },
      { ...about, ...bounds },
    ),
    object({ type: choice('array'), items: object({ anyOf: list(option) }) }, { ...about, ...bounds }),
  )
}
