import { parseArgs } from 'node:util'
import { build, isStale } from './build.ts'
import { main } from './run.ts'
import { bundleSingle, bundleSplit } from './size/bundle.ts'
import { checkInstall } from './size/install.ts'
import { loginCode } from './size/login-code.ts'
import { measure, type Size } from './size/measure.ts'
import { PROGRAMS, programOf, TASKS, type Program } from './size/programs.ts'
import { fillPage } from './size/page.ts'
import { tableText } from './size/table.ts'
import { breaches, excessOf, kilobytes } from './size/targets.ts'

/** The programs that have targets. */
const CHECKED: readonly Program[] = [
  programOf('Pierhead', TASKS.zod),
  programOf('official v2', TASKS.zod),
  programOf('Pierhead', TASKS.client),
]

/** A server as Workers run it: bundlers resolve it under the conditions of browsers. */
const WORKER = `import { createServer } from 'pierhead'
  export default createServer({ name: 'worker', version: '1.0.0' })`

/**
 * Checks our sizes against the targets. `--all` prints the whole table with the peers instead, as text on a terminal and as
 * JSON otherwise; `--page` also puts it on the page of benchmarks; `--parts server` or `--parts client` lists the files in one of our
 * programs.
 */
async function checkSizes(): Promise<void> {
  const { values } = parseArgs({
    options: {
      all: { type: 'boolean', default: false },
      page: { type: 'boolean', default: false },
      parts: { type: 'string' },
    },
  })
  if (isStale()) await build()
  if (values.parts !== undefined) return printParts(values.parts)
  if (values.all || values.page) return printAll(values.page)
  checkInstall()
  const sizes = await measureAll(CHECKED, { vite: false })
  for (const { subject, task, single, initial } of sizes)
    console.log(`${subject}, ${task}: one file ${kilobytes(single)}, initial chunk ${kilobytes(initial)}`)
  console.log(`our server is ${kilobytes(excessOf(sizes))} above its target, official v2`)
  await rejectNodeCode(programOf('Pierhead', TASKS.client))
  await rejectLoginCode(programOf('Pierhead', TASKS.client))
  // Fails if the server needs modules of Node.
  await bundleSplit({ text: WORKER, platform: 'browser' })
  const over = breaches(sizes)
  if (over.length > 0) throw new Error(over.join('; '))
}

async function printAll(intoReadme: boolean): Promise<void> {
  const sizes = await measureAll(PROGRAMS, { vite: true })
  console.log(process.stdout.isTTY ? tableText(sizes) : JSON.stringify(sizes, null, 2))
  if (intoReadme) fillPage(sizes)
}

async function measureAll(
  programs: readonly Program[],
  options: { readonly vite: boolean },
): Promise<readonly Size[]> {
  const sizes: Size[] = []
  for (const program of programs) sizes.push(await measure(program, options))
  return sizes
}

/** Fails if the browser client needs modules or globals of Node, which browsers do not have. */
async function rejectNodeCode(client: Program): Promise<void> {
  const { imports, nodeGlobals } = await bundleSplit(client)
  const nodeCode = [...imports, ...nodeGlobals]
  if (nodeCode.length > 0) throw new Error(`the browser client needs ${nodeCode.join(', ')}`)
}

/** Fails if a client without `auth` contains code for logins, even if it is loaded on demand. */
async function rejectLoginCode(client: Program): Promise<void> {
  const { inputs } = await bundleSingle({ ...client, from: 'source' })
  const found = loginCode(inputs)
  if (found.length > 0) throw new Error(found.join('; '))
}

/** Lists the files in one of our programs, largest first. */
async function printParts(which: string): Promise<void> {
  const task = { server: TASKS.zod, client: TASKS.client }[which]
  if (task === undefined) throw new Error(`--parts is server or client, not ${which}`)
  const { gzip, inputs } = await bundleSingle({ ...programOf('Pierhead', task), from: 'source' })
  for (const [file, bytes] of inputs) if (bytes > 0) console.log(`${String(bytes).padStart(8)}  ${file}`)
  console.log(`${inputs.size} files, ${kilobytes(gzip)} compressed`)
}

if (import.meta.filename === process.argv[1]) await main(checkSizes)
