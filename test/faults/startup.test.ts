import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-startup-'))
afterAll(() => rmSync(folder, { recursive: true }))

bundle(fileURLToPath(new URL('../../src/index.ts', import.meta.url)), 'pierhead.mjs')

const TSX = fileURLToPath(import.meta.resolve('tsx'))
const LISTEN = `import { createServer } from './pierhead.mjs'
const app = createServer({ name: 'starting', version: '1.0.0' })
const running = await app.listen({ http: { port: 0 } })
`
/** One turn of the event loop and one answered request after listening. */
const SERVE = `await (await fetch(new URL('/healthz', running.url))).text()\n`
const THROW = `throw new Error('could not start')\n`
const REQUIRE = `const { createServer } = require('./pierhead.mjs')
const app = createServer({ name: 'starting', version: '1.0.0' })
`

interface Ended {
  readonly code: number | string | null
  readonly stderr: string
}

describe('a program whose start fails prints the error and exits, although the server listens', () => {
  const failing: Readonly<Record<string, readonly [name: string, source: string]>> = {
    'right after listen': ['after.mjs', LISTEN + THROW],
    'later, in a module that still evaluates': ['later.mjs', LISTEN + SERVE + THROW],
    'in a function that the module awaits': [
      'setup.mjs',
      `${LISTEN}async function setup() {\n${SERVE}${THROW}}\nawait setup()\n`,
    ],
    'before listen has settled': [
      'before.mjs',
      `${LISTEN.replace('const running = await ', '')}await null\n${THROW}`,
    ],
    'on stdio': ['stdio.mjs', LISTEN.replace('{ http: { port: 0 } }', '') + THROW],
    'on two servers': ['two.mjs', `${LISTEN}await app.listen({ http: { port: 0 } })\n${SERVE}${THROW}`],
    'in CommonJS, after listen was called': [
      'call.cjs',
      `${REQUIRE}app.listen({ http: { port: 0 } })\n${THROW}`,
    ],
    'in a function of a CommonJS program, right after listen': [
      'main.cjs',
      `${REQUIRE}async function main() {\nawait app.listen({ http: { port: 0 } })\n${THROW}}\nmain()\n`,
    ],
    'in a function that is called but not awaited, right after listen': [
      'main.mjs',
      `async function main() {\n${LISTEN.split('\n').slice(1).join('\n')}${THROW}}\n${LISTEN.split('\n')[0]}\nmain()\n`,
    ],
  }

  for (const [when, [name, source]] of Object.entries(failing)) {
    test(`${when} [F19]`, async () => {
      write(name, source)
      expect(await run(name)).toEqual({ code: 1, stderr: expect.stringContaining('Error: could not start') })
    })
  }

  test('in a module that imports the one that listens', async () => {
    write('listens.mjs', LISTEN)
    write('imports.mjs', `import './listens.mjs'\n${THROW}`)
    expect(await run('imports.mjs')).toEqual({ code: 1, stderr: expect.stringContaining('could not start') })
  })

  test('in a single file that a bundler made', async () => {
    write('whole.mjs', LISTEN + SERVE + THROW)
    bundle(join(folder, 'whole.mjs'), 'bundled.mjs')
    expect(await run('bundled.mjs')).toEqual({ code: 1, stderr: expect.stringContaining('could not start') })
  })

  test('in TypeScript that a loader compiles', async () => {
    write('typed.mts', `${LISTEN + SERVE}const reason: string = 'could not start'\nthrow new Error(reason)\n`)
    const ended = await run('typed.mts', ['--import', TSX])
    expect(ended).toEqual({ code: 1, stderr: expect.stringContaining('Error: could not start') })
  })

  test('with something that is not an error', async () => {
    write('nothing.mjs', `${LISTEN + SERVE}throw undefined\n`)
    expect(await run('nothing.mjs')).toEqual({ code: 1, stderr: expect.stringContaining('undefined') })
  })
})

describe('a program goes on after an error', () => {
  const END = `process.on('exit', () => console.error('it went on'))\nawait running.close()\n`
  const REPORT = 'uncaught error in user code; the process keeps running'
  const turn = `await new Promise((resolve) => setTimeout(resolve, 1))\n`

  const surviving: Readonly<Record<string, string>> = {
    'in a timer that its top level started': `setTimeout(() => {\n${THROW}})\n`,
    'in a promise that its top level did not await': `async function later() {\n${SERVE}${THROW}}\nlater()\n`,
    'in a module that it imported on demand': `setTimeout(() => import('data:text/javascript,throw new Error("could not start")'))\n`,
  }

  for (const [where, source] of Object.entries(surviving)) {
    test(`${where} [F19]`, async () => {
      const name = `survives-${Object.keys(surviving).indexOf(where)}.mjs`
      const log = `log: (level, message, { error }) => { console.error(message, error.message); reported() }`
      const listens = LISTEN.replace("version: '1.0.0'", `version: '1.0.0', ${log}`)
      const reported = `let reported\nconst report = new Promise((resolve) => (reported = resolve))\n`
      write(name, `${listens.replace('const app', `${reported}const app`)}${source}await report\n${END}`)
      const { code, stderr } = await run(name)
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('it went on') })
      expect(stderr).toContain(`${REPORT} could not start`)
    })
  }

  test('at its top level if it listens for uncaught errors itself', async () => {
    const own = `process.on('uncaughtException', (error) => {\nconsole.error('handled', error.message)\nrunning.close()\n})\n`
    write('own.mjs', `${LISTEN}${own}${turn}${THROW}`)
    const ended = await run('own.mjs')
    expect(ended).toEqual({ code: 0, stderr: expect.stringContaining('handled could not start') })
  })
})

function write(name: string, source: string): void {
  writeFileSync(join(folder, name), source)
}

function bundle(entry: string, name: string): void {
  buildSync({
    entryPoints: [entry],
    outfile: join(folder, name),
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  })
}

/** Runs a program to its end. Its stdin stays open, as that of a server with a client does. */
async function run(name: string, flags: readonly string[] = []): Promise<Ended> {
  const child = spawn(process.execPath, [...flags, join(folder, name)])
  onTestFinished(() => void child.kill('SIGKILL'))
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')))
  const code = await new Promise<number | string | null>((resolve) =>
    child.once('close', (status, signal) => resolve(status ?? signal)),
  )
  return { code, stderr }
}
