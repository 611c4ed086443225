import { readFileSync, writeFileSync } from 'node:fs'
import { main } from './run.ts'

const README = 'examples/README.md'

/** One example: a folder with servers, clients or both. */
export interface Example {
  readonly folder: string
  /** How far the reader is, from 1: the place of its description in `stages`. */
  readonly stage: number
  readonly shows: string
  readonly servers: readonly ExampleServer[]
}

/** A server of an example. */
export interface ExampleServer {
  readonly file: string
  /** How many tools it lists for an anonymous caller. */
  readonly tools: number
  /**
   * How it starts by itself: its program listens, exports the server, exports a function that creates it, that serves it, that mounts
   * another one in a framework, or that creates a site for it. Default: it cannot.
   */
  readonly start?: 'listens' | 'exports' | 'creates' | 'serves' | 'mounts' | 'site'
  readonly export?: string
  /** Whether its tools reject callers that do not know tasks, as the suite is. Default: `false`. */
  readonly onlyTasks?: boolean
  /** Why it cannot start by itself. */
  readonly needs?: string
}

export interface Inventory {
  readonly stages: readonly string[]
  readonly examples: readonly Example[]
}

/** Reads the inventory of all examples. */
export function readInventory(): Inventory {
  return JSON.parse(readFileSync('examples/inventory.json', 'utf8')) as Inventory
}

/** The tables of stages and examples in the README of the examples. */
export function inventoryText({ stages, examples }: Inventory): string {
  const servers = examples.flatMap((example) => example.servers)
  const rows = examples.map(({ folder, stage, shows, servers: own }) => [
    `[${folder}](${linkTo(folder)})`,
    String(stage),
    own.map(({ file, tools }) => `\`${file}\` (${tools})`).join(', '),
    shows,
  ])
  return [
    `${examples.length} examples with ${servers.length} servers. The stage says when you need an example; read them in this order:`,
    '',
    ...stages.map((stage, i) => `${i + 1}. ${stage}`),
    '',
    ...table(['folder', 'stage', 'servers (tools)', 'shows'], rows),
    '',
  ].join('\n')
}

/** A relative link, or for an example that the package leaves out, its URL. */
function linkTo(folder: string): string {
  const { files, homepage } = JSON.parse(readFileSync('package.json', 'utf8'))
  const path = `examples/${folder}`
  return files.includes(`!${path}`) ? `${homepage.split('#')[0]}/tree/main/${path}` : folder
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const widths = head.map((name, i) =>
    Math.max(...[head, ...rows].map((row) => row[i]?.length ?? 0), name.length),
  )
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)]
}

/** The README with its tables up to date. */
export function withInventory(readme: string, inventory: Inventory): string {
  const [before, after] = [/^[\s\S]*<!-- inventory -->\n/.exec(readme), /<!-- end -->[\s\S]*$/.exec(readme)]
  if (before === null || after === null) throw new Error(`${README} lacks its marks for the inventory`)
  return `${before[0]}\n${inventoryText(inventory)}\n${after[0]}`
}

/** Writes the tables into the README. */
function write(): void {
  writeFileSync(README, withInventory(readFileSync(README, 'utf8'), readInventory()))
}

if (import.meta.filename === process.argv[1]) await main(write)
