import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { build, isStale } from '../../tools/build.ts'
import { spawnLine } from './line.ts'
import { programFolder } from './program-folder.ts'

beforeAll(async () => {
  // Node imports the built package, and runs TypeScript with it.
  if (isStale()) await build()
}, 300_000)

const HEAD = `import { createServer } from 'pierhead'\n`

const THROWS = `${HEAD}interface Row {
  readonly id: number
}
function rows(): readonly Row[] {
  const none = undefined as unknown as { readonly list: readonly Row[] }
  return none.list
}
console.error(rows().length)
export default createServer({ name: 'x', version: '1.0.0' })
`
const MESSAGE = "TypeError: Cannot read properties of undefined (reading 'list')"

/** Runs the built command, without the loader of the tests. */
function run(home: string, ...args: string[]): { readonly status: number | null; readonly text: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    // What `run` prints is never JSON.
    [resolve('dist/cli/main.js'), ...args, ...(args[0] === 'run' ? [] : ['--no-json'])],
    { cwd: home, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } },
  )
  return { status, text: stdout + stderr }
}

describe('an error that a program throws before it serves', () => {
  it('has its place in the program, and nothing of how the program was started', () => {
    const home = programFolder({ 'src/server.ts': THROWS })
    expect(run(home, 'run', 'src/server.ts')).toEqual({
      status: 1,
      text: `error: ${MESSAGE}\n  at src/server.ts:${placeOf('none.list', 'list')}\n`,
    })
    for (const args of [
      ['list', 'src/server.ts'],
      ['call', '--server', 'src/server.ts', 'x'],
    ])
      expect(run(home, ...args)).toEqual({
        status: 4,
        text: `error: src/server.ts did not start: ${MESSAGE}\n  at src/server.ts:${placeOf('none.list', 'list')}\n`,
      })
    const doctor = run(home, 'doctor', 'src/server.ts')
    expect(doctor.text).toContain(`${MESSAGE}\n    at src/server.ts:${placeOf('none.list', 'list')}\n`)
    expect(doctor.text).not.toContain('log of the server')
  })

  it('about an option is not advised by the help of the command', async () => {
    const wrong = `${HEAD}export default createServer({ name: 'x', version: '1.0.0', limits: { sessions: -1 } })\n`
    const home = programFolder({ 'server.mjs': wrong })
    const { code, stderr } = await spawnLine(['run', 'server.mjs'], { cwd: home })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: limits\.sessions: .*\n {2}at server\.mjs:2:\d+\nfix: (?!.*--help)/)
  })

  it('is told as before where an address is the reason', async () => {
    const home = programFolder({
      'server.mjs': `${HEAD}await createServer({ name: 'x', version: '1.0.0' }).listen({ http: { port: 0 } })\n`,
    })
    const { stderr } = await spawnLine(['run', 'server.mjs', '--host', '192.0.2.1', '--hosts', 'a.example'], {
      cwd: home,
    })
    expect(stderr).toMatch(/^error: this machine has no such address: .*\nfix: .*--host 127\.0\.0\.1.*\n$/)
  })
})

/** The line and column of a word in the program, by an expression around it. */
function placeOf(expression: string, word: string): string {
  const at = THROWS.indexOf(expression) + expression.indexOf(word)
  const before = THROWS.slice(0, at).split('\n')
  return `${before.length}:${(before.at(-1) ?? '').length + 1}`
}

// Newer ones read TypeScript themselves.
describe.skipIf((process.features as { readonly typescript?: unknown }).typescript)(
  'a mistake in TypeScript',
  () => {
    const SOURCE = `${HEAD}const n: number = = 3\nexport default n\n`
    const FRAME =
      'SyntaxError: HOME/bad.ts:2:19: Unexpected "="\n  2 | const n: number = = 3\n    |                   ^\n'

    it('is shown with its line, and nothing of what found it', () => {
      const home = programFolder({ 'bad.ts': SOURCE, 'main.ts': "import './bad.ts'\n" })
      const frame = FRAME.replace('HOME', home)
      for (const file of ['bad.ts', 'main.ts']) {
        const { status, stderr } = spawnSync(process.execPath, ['--import', 'pierhead/typescript', file], {
          cwd: home,
          encoding: 'utf8',
        })
        expect({ status, stderr }).toEqual({ status: 1, stderr: frame })
        expect(run(home, 'run', file)).toEqual({ status: 1, text: `error: ${frame}` })
      }
      expect(run(home, 'list', 'bad.ts').text).toBe(`error: bad.ts did not start: ${frame}`)
    })

    it('needs esbuild, which the error says in two lines', () => {
      const home = programFolder({ 'main.ts': 'console.log(1 as number)\n' })
      rmSync(join(home, 'node_modules/esbuild'))
      const { status, stderr } = spawnSync(process.execPath, ['--import', 'pierhead/typescript', 'main.ts'], {
        cwd: home,
        encoding: 'utf8',
      })
      const problem = `${process.version} needs esbuild for TypeScript, and the project does not have it`
      const text = `error: ${problem}\nfix: npm install --save-dev esbuild\n`
      expect({ status, stderr }).toEqual({ status: 1, stderr: text })
    })

    it('is left to a program that handles errors itself', () => {
      const home = programFolder({
        'bad.ts': SOURCE,
        'main.ts': `process.on('uncaughtException', (error) => console.log('mine:', error.message))\nvoid import('./bad.ts')\n`,
      })
      const { stdout } = spawnSync(process.execPath, ['--import', 'pierhead/typescript', 'main.ts'], {
        cwd: home,
        encoding: 'utf8',
      })
      expect(stdout).toContain(`mine: ${home}/bad.ts:2:19: Unexpected "="`)
    })
  },
)
