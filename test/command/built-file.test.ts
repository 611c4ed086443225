import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createNetServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'pierhead'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { build, isStale } from '../../tools/build.ts'
import { line } from './line.ts'
import { programFolder } from './program-folder.ts'

beforeAll(async () => {
  // A bundle contains the built package.
  if (isStale()) await build()
}, 300_000)

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Builds a program, and returns a function that runs the result until it ends. */
async function built(
  source: string,
): Promise<(args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Ended>> {
  const home = programFolder({ 'program.mjs': source })
  const { code, stderr } = await line(['build', 'program.mjs'], { cwd: home })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return async (args, env = {}) => {
    const child = spawn(process.execPath, [join(home, 'dist/program.js'), ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, stdout, stderr }
  }
}

describe('a built client', () => {
  const CLIENT = `import { connect, McpError } from 'pierhead/client'
const MORE
try {
  await using client = await connect(process.argv[2])
  for await (const { name } of client.tools()) console.log(name)
} catch (error) {
  if (!(error instanceof McpError)) throw error
  console.error('mine: ' + error.kind)
  process.exitCode = 1
}
`

  it.each(['own = 1', 'own = 1\nexport { own }'])(
    'prints what it says and nothing else: %j',
    async (more) => {
      const run = await built(CLIENT.replace('MORE', more))
      const app = createServer({ name: 'explored', version: '1.0.0' }).tool('first', {}, () => '')
      const { url = '', close } = await app.listen({ http: { port: 0 } })
      onTestFinished(() => close())
      expect(await run([url])).toEqual({ code: 0, stdout: 'first\n', stderr: '' })
      expect(await run(['http://127.0.0.1:1/mcp'])).toEqual({
        code: 1,
        stdout: '',
        stderr: 'mine: connect_failed\n',
      })
    },
  )

  it('shows an error that it does not catch in two lines', async () => {
    const run = await built(`import { connect } from 'pierhead/client'\nawait connect(process.argv[2])\n`)
    const { code, stderr } = await run(['http://127.0.0.1:1/mcp'])
    expect(stderr).toMatch(/^error: cannot connect to .*\nfix: .*\n$/)
    expect(code).toBe(1)
  })
})

const SERVER = `import { createServer } from 'pierhead'
const app = createServer({ name: 'own', version: '1.0.0' })
`

describe('a built server', () => {
  it.each([
    ['that is exported', 'export default app', { PORT: '0' }],
    ['that listens itself', 'await app.listen({ http: { port: 0 } })', {}],
  ])('%s says once where it is', async (_, end, env) => {
    // It ends by itself once it has said so.
    const ends = `const { error } = console\nconsole.error = (text) => {\n  error(text)\n  setImmediate(() => process.exit(0))\n}\n`
    const { code, stdout, stderr } = await (await built(`${SERVER}${ends}${end}\n`))([], env)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatch(/^listening at http:\/\/127\.0\.0\.1:\d+\/mcp\n$/)
  })

  it('is said to be a module where nothing tells Node so', async () => {
    const home = programFolder({ 'program.mjs': `${SERVER}export default app\n`, 'package.json': '{}' })
    const { stderr } = await line(['build', 'program.mjs'], { cwd: home })
    expect(stderr).toMatch(/dist\/program\.js is a module, .*npm pkg set type=module\n$/)
    expect((await line(['build', 'program.mjs', '--out', 'dist/a.mjs'], { cwd: home })).stderr).toBe('')
  })
})

describe('a built server says in two lines', () => {
  it.each([
    [
      { PORT: 'many' },
      'PORT: many is not a valid port',
      'Use a number from 0 to 65535; 0 chooses a free one.',
    ],
    [{ PORT: '70000' }, 'PORT: 70000 is not a valid port', 'Use a number'],
    [
      { PORT: '0', HOST: '0.0.0.0' },
      '"0.0.0.0" can be reached by other machines',
      'Name the hosts that clients will use: HOSTS=mcp.example.com',
    ],
    [{ PORT: '0', HOST: '203.0.113.1' }, '"203.0.113.1" can be', 'Name the hosts'],
    [
      { PORT: '0', HOST: '203.0.113.1', HOSTS: 'a' },
      'this machine has no such address',
      'Use one that it has: HOST=',
    ],
  ])('with %j', async (env, problem, fix) => {
    const { code, stderr } = await (await built(`${SERVER}export default app\n`))([], env)
    const [first = '', second = '', ...more] = stderr.split('\n')
    expect({ code, more }).toEqual({ code: 1, more: [''] })
    expect(first.startsWith(`error: ${problem}`) ? problem : first).toBe(problem)
    expect(second.startsWith(`fix: ${fix}`) ? fix : second).toBe(fix)
  })

  it.each([
    ['if PORT names it', 'export default app', 'PORT', (port: number) => `PORT=${port}`],
    [
      'if the program names it',
      'await app.listen({ http: { port: Number(process.env.MINE) } })',
      'MINE',
      (port: number) => `listen({ http: { port: ${port} } })`,
    ],
  ])('that a port is in use, %s', async (_, end, variable, other) => {
    const user = createNetServer().listen(0, '127.0.0.1')
    await once(user, 'listening')
    onTestFinished(() => void user.close())
    const { port } = user.address() as AddressInfo
    const run = await built(`${SERVER}${end}\n`)
    expect(await run([], { [variable]: String(port) })).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: port ${port} is in use\nfix: Choose another: ${other(port + 1)} (0 chooses any)\n`,
    })
  })

  it('that devAuth does not run in production', async () => {
    const source = `import { devAuth } from 'pierhead/auth/dev'\n${SERVER.replace("'1.0.0'", "'1.0.0', auth: await devAuth()")}export default app\n`
    const { code, stderr } = await (await built(source))([], { NODE_ENV: 'production', PORT: '0' })
    expect(stderr).toBe(
      'error: devAuth lets anyone log in as anyone, so it does not run when NODE_ENV is production\nfix: Use oauth({ issuer, resource }) of pierhead/auth; the server of the template http does that if ISSUER is set.\n',
    )
    expect(code).toBe(1)
  })

  it('what an error of this package says', async () => {
    const { stderr } = await (await built(`${SERVER}app.tool('a b', {}, () => '')\nexport default app\n`))([])
    expect(stderr).toMatch(/^error: .*\nfix: .*\n$/)
  })

  it('and shows where other errors come from', async () => {
    const { code, stderr } = await (
      await built(`${SERVER}export default app\nthrow new Error('of my own')\n`)
    )([])
    expect(stderr).toMatch(/Error: of my own\n +at /)
    expect(code).toBe(1)
  })

  it('unless the program handles errors itself', async () => {
    const own = `process.on('uncaughtException', (error) => console.error('mine: ' + error.kind))\n`
    const { stderr } = await (
      await built(`${SERVER}${own}app.tool('a b', {}, () => '')\nexport default app\n`)
    )([])
    expect(stderr).toBe('mine: bad_definition\n')
  })
})
