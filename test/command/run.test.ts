import { once } from 'node:events'
import { request } from 'node:http'
import { createServer as createNetServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connect } from 'pierhead/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Dev, Project } from './dev-project.ts'
import { spawnLine } from './line.ts'
import { programFolder, startedUrl } from './program-folder.ts'

const SERVER = `import { createServer } from 'pierhead'
const app = createServer({ name: 'own', version: '1.0.0' })
app.tool('hello', {}, () => 'hello')
`

/** A server whose `listen` is not awaited. */
const UNAWAITED = `${SERVER}void app.listen()\n`

describe('a program that does not await listen()', () => {
  it('is run', async () => {
    const home = programFolder({ 'server.ts': UNAWAITED })
    const url = await startedUrl(['run', 'server.ts', '--port', '0'], { cwd: home })
    await using client = await connect(url)
    expect(await client.call('hello', {})).toBe('hello')
  })

  it('is a target', async () => {
    const home = programFolder({ 'server.ts': UNAWAITED })
    const { stdout, stderr } = await spawnLine(['call', 'server.ts', 'hello'], { cwd: home })
    expect({ stderr, content: JSON.parse(stdout).content }).toEqual({
      stderr: '',
      content: [{ type: 'text', text: 'hello' }],
    })
  })

  it('is served by dev', async () => {
    const dev = new Dev(new Project(UNAWAITED), ['--no-types'])
    await using client = await connect(await dev.url())
    expect(await client.call('hello', {})).toBe('hello')
  })

  it('may come to listen() after it was imported', async () => {
    const later = `${SERVER}void new Promise((go) => setTimeout(go, 300)).then(() => app.listen({ http: { port: 0 } }))\n`
    const home = programFolder({ 'server.mjs': later })
    await using client = await connect(await startedUrl(['run', 'server.mjs'], { cwd: home }))
    expect(await client.call('hello', {})).toBe('hello')
    const dev = new Dev(new Project(later), ['--no-types'])
    await using other = await connect(await dev.url())
    expect(await other.call('hello', {})).toBe('hello')
  })

  it('may listen a second time where the first did not work', async () => {
    const later = `${SERVER}void app.listen({ http: { port: 70000 } }).catch(() => app.listen({ http: { port: 0 } }))\n`
    const home = programFolder({ 'server.mjs': later })
    const url = await startedUrl(['run', 'server.mjs'], { cwd: home })
    await using client = await connect(url)
    expect(await client.call('hello', {})).toBe('hello')
  })

  it('fails with the error of listen(), also if the program hides that', async () => {
    const hidden = `${SERVER}app.listen({ http: { port: 70000 } }).catch(() => undefined)\n`
    const { code, stderr } = await spawnLine([
      'run',
      join(programFolder({ 'server.mjs': hidden }), 'server.mjs'),
    ])
    expect(code).not.toBe(0)
    expect(stderr).toContain('70000')
  })
})

it('dev says at once that a file holds no server', async () => {
  const dev = new Dev(new Project(SERVER), ['--no-types', '--start-time', '10m'])
  expect((await dev.until('failed')).message).toContain('neither exports a server nor calls listen()')
})

describe('run', () => {
  it.each([
    [['--port', '70000'], '70000 is not a valid port'],
    [['--port', 'many'], 'many is not a valid port'],
    [['--workers', 'some', '--http'], 'some is not a valid number of workers'],
  ])('rejects %j', async (options, text) => {
    const home = programFolder({ 'server.mjs': UNAWAITED })
    const { code, stderr } = await spawnLine(['run', 'server.mjs', ...options], { cwd: home })
    expect(code).toBe(2)
    expect(stderr).toContain(text)
  })

  it('reads PORT as a built file does: an empty one is none, and a wrong one is named', async () => {
    const home = programFolder({ 'server.mjs': `${SERVER}export default app\n` })
    // Over stdio, it ends with its input.
    const none = await spawnLine(['run', 'server.mjs'], { cwd: home, env: { PORT: '' } })
    expect(none).toMatchObject({ code: 0, stderr: '' })
    const { code, stderr } = await spawnLine(['run', 'server.mjs'], { cwd: home, env: { PORT: 'many' } })
    expect(code).toBe(2)
    expect(stderr).toContain('PORT: many is not a valid port')
  })

  it('names a file that is not there', async () => {
    const { code, stderr } = await spawnLine(['run', 'missing.ts'], { cwd: programFolder({}) })
    expect(code).toBe(2)
    expect(stderr).toContain('there is no file missing.ts')
  })

  it.each([['--port 0'], ['--http --port 0'], ['--host 127.0.0.1 --port 0']])(
    'keeps the other options of HTTP with %s',
    async (options) => {
      const listens = `${SERVER}await app.listen({ http: { path: '/api', port: 1, cors: ['https://films.example'] } })\n`
      const home = programFolder({ 'server.mjs': listens })
      const url = await startedUrl(['run', 'server.mjs', ...options.split(' ')], { cwd: home })
      expect(new URL(url).pathname).toBe('/api')
      const headers = { origin: 'https://films.example', 'access-control-request-method': 'POST' }
      const answer = await fetch(url, { method: 'OPTIONS', headers })
      expect(answer.headers.get('access-control-allow-origin')).toBe('https://films.example')
    },
  )

  it.each([`await app.listen({ http: { path: '/api', port: 1 }, stdio: false })`, `export default app`])(
    'serves at the address in the environment, also if the program names another: %s',
    async (end) => {
      const server = SERVER.replace("'1.0.0'", "'1.0.0', transports: ['http']")
      const home = programFolder({ 'server.mjs': `${server}${end}\n` })
      const env = { PORT: '0', HOST: 'localhost' }
      const url = new URL(await startedUrl(['run', 'server.mjs'], { cwd: home, env }))
      expect(url.port).not.toBe('1')
      expect({ host: url.hostname, path: url.pathname }).toEqual({
        host: 'localhost',
        path: end.startsWith('export') ? '/mcp' : '/api',
      })
      await using client = await connect(url)
      expect(await client.call('hello', {})).toBe('hello')
    },
  )

  it('keeps the port of the program with --http', async () => {
    const listens = `${SERVER}await app.listen({ http: { port: 0 } })\n`
    const home = programFolder({ 'server.mjs': listens })
    const urls = await Promise.all(
      [1, 2].map(() => startedUrl(['run', 'server.mjs', '--http'], { cwd: home })),
    )
    expect(new Set(urls).size).toBe(2)
  })

  it('opens the transports that an exported server names', async () => {
    const exported = SERVER.replace("'1.0.0'", "'1.0.0', transports: ['http']") + 'export default app\n'
    const home = programFolder({ 'server.mjs': exported })
    const url = await startedUrl(['run', 'server.mjs'], { cwd: home, env: { PORT: '0' } })
    await using client = await connect(url)
    expect(await client.call('hello', {})).toBe('hello')
  })

  it('serves HTTP if PORT is set, like a built file', async () => {
    const home = programFolder({ 'server.mjs': `${SERVER}export default app\n` })
    const url = await startedUrl(['run', 'server.mjs'], { cwd: home, env: { PORT: '0' } })
    await using client = await connect(url)
    expect(await client.call('hello', {})).toBe('hello')
  })

  it.each([
    [['--host', '0.0.0.0', '--hosts', 'films.example, localhost'], {}],
    [[], { HOST: '0.0.0.0', HOSTS: 'films.example,localhost' }],
    [
      ['--host', '0.0.0.0', '--hosts', 'films.example,localhost'],
      { HOST: '203.0.113.1', HOSTS: 'other.example' },
    ],
  ])('serves other machines under the names in %j and %j', async (options, env) => {
    const home = programFolder({ 'server.mjs': `${SERVER}export default app\n` })
    const args = ['run', 'server.mjs', '--http', '--port', '0', ...options]
    const { port } = new URL(await startedUrl(args, { cwd: home, env }))
    const statusFor = (host: string): Promise<number | undefined> =>
      new Promise((known, failed) => {
        const asked = request({ port, path: '/mcp', method: 'POST', headers: { host } }, (response) => {
          response.resume()
          known(response.statusCode)
        })
        asked.on('error', failed).end('{}')
      })
    expect(await statusFor(`other.example:${port}`)).toBe(403)
    expect(await statusFor(`films.example:${port}`)).not.toBe(403)
  })

  it('says how to name the hosts, and how to choose another port', async () => {
    const home = programFolder({ 'server.mjs': `${SERVER}export default app\n` })
    expect(
      await spawnLine(['run', 'server.mjs', '--http', '--port', '0', '--host', '0.0.0.0'], { cwd: home }),
    ).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'error: "0.0.0.0" can be reached by other machines\nfix: Name the hosts that clients will use: --hosts mcp.example.com, or HOSTS=mcp.example.com\n',
    })
    const other = createNetServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const { port } = other.address() as AddressInfo
    expect(await spawnLine(['run', 'server.mjs', '--port', String(port)], { cwd: home })).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: port ${port} is in use\nfix: Choose another: --port ${port + 1} (0 chooses any)\n`,
    })
  })
})
