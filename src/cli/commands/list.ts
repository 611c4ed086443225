import { nearest } from '../../base/nearest.ts'
import { suggestion } from '../arranged-line.ts'
import type { Command } from '../command.ts'
import { similarName } from '../config-files.ts'
import { wrongUsage } from '../failure.ts'
import type { Output } from '../output.ts'
import { safeLine } from '../safe-text.ts'
import { signatureOf } from '../signature.ts'
import { notTarget } from '../target.ts'

/** The kinds of things that a server lists, and the capability behind each. */
const KINDS = { tools: 'tools', resources: 'resources', templates: 'resources', prompts: 'prompts' } as const

type Kind = keyof typeof KINDS

export const list: Command = {
  name: 'list',
  group: 'Use a server',
  summary: 'list tools, resources, templates and prompts',
  hasTarget: true,
  arguments: [
    {
      name: 'kind',
      summary: 'tools, resources, templates or prompts; all by default',
      isOptional: true,
      values: Object.keys(KINDS),
    },
  ],
  examples: [
    ['list http://localhost:3000/mcp', 'lists everything that a server offers'],
    ['list server.ts tools', 'starts server.ts and lists its tools'],
  ],
  async run({ words: [kind], flags, io, output, open }) {
    if (kind !== undefined && /:\/\/|^[./~]|[\\/]/.test(kind)) throw notTarget(kind)
    if (kind !== undefined && !Object.hasOwn(KINDS, kind))
      throw wrongUsage(
        `"${kind}" is not a kind${suggestion(nearest(kind, Object.keys(KINDS)) ?? similarName(kind, io, flags.text('config')))}`,
        `The kinds are ${Object.keys(KINDS).join(', ')}.`,
      )
    const { client } = await open()
    const { capabilities } = await client.server()
    const kinds = (kind === undefined ? Object.keys(KINDS) : [kind]) as readonly Kind[]
    const found: Partial<Record<Kind, readonly Item[]>> = {}
    for (const one of kinds)
      if (kind !== undefined || capabilities[KINDS[one]] !== undefined)
        found[one] = (await client[one]().toArray()) as readonly Item[]
    await output.lists(found, () => linesOf(found, kind !== undefined, output))
  },
}

/** Lists as text for people; empty ones appear only if they were asked for. */
function* linesOf(
  found: Partial<Record<Kind, readonly Item[]>>,
  isAsked: boolean,
  output: Output,
): Generator<string> {
  const shown = Object.entries(found).filter(([, items]) => items.length > 0 || isAsked)
  if (shown.length === 0) yield 'The server offers nothing.'
  for (const [at, [kind, items]] of shown.entries()) {
    if (at > 0) yield ''
    yield output.colors.bold(`${kind} (${items.length})`)
    for (const item of items) yield lineOf(item, output.width)
  }
}

interface Item {
  readonly name: string
  readonly title?: string
  readonly uri?: string
  readonly uriTemplate?: string
  readonly description?: string
  readonly inputSchema?: unknown
  readonly arguments?: unknown
}

/** Describes an item: its title, unless that is its name, and its description. A resource that has neither is described by its name. */
function aboutOf({ name, title, uri, description }: Item): string {
  const texts = new Set([title === name ? undefined : title, description])
  const about = [...texts].filter((text) => text !== undefined && text !== '').join(': ')
  return about === '' && uri !== undefined ? name : about
}

/** One item in a line or two: how to use it, and what it is for. */
function lineOf(item: Item, width: number): string {
  const head = `  ${safeLine(item.uri ?? item.uriTemplate ?? signatureOf(item), 200)}`
  const about = aboutOf(item)
  return about === '' ? head : `${head}\n      ${safeLine(about, Math.max(30, width - 8))}`
}
