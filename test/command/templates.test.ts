import { spawn } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { once } from 'node:events'
import { createConnection, createServer as createNetServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createServer } from 'pierhead'
import { connect } from 'pierhead/client'
import { build, isStale } from '../../tools/build.ts'
import { nodeBinary } from '../../tools/nodes.ts'
import { CreatedProject } from './created-project.ts'
import { line } from './line.ts'

const SERVERS = ['minimal', 'http', 'tasks'] as const
const TEMPLATES = [...SERVERS, 'client'] as const

let folder = ''
const projects = new Map<string, CreatedProject>()

beforeAll(async () => {
  if (isStale()) await build()
  folder = mkdtempSync(join(tmpdir(), 'pierhead-templates-'))
  for (const template of TEMPLATES) projects.set(template, await CreatedProject.create(folder, template))
}, 300_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function projectOf(template: string): CreatedProject {
  return projects.get(template) as CreatedProject
}

/** The command lines in a README, without what they do. */
function commandsIn(readme: string): readonly string[] {
  const [, block = ''] = /```sh\n([^`]*)```/.exec(readme) ?? []
  return block.split('\n').flatMap((text) => {
    const command = text.replace(/ +#.*$/, '')
    return command === '' ? [] : [command]
  })
}

/** A port that is free now. */
async function freePort(): Promise<number> {
  const server = createNetServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((known) => {
    const socket = createConnection(port, '127.0.0.1')
    socket.on('connect', () => known(true)).on('error', () => known(false))
    socket.on('connect', () => socket.destroy())
  })
}

describe('the README of a template', () => {
  it.each(TEMPLATES)('shows commands that work: %s', { timeout: 500_000 }, async (template) => {
    const project = projectOf(template)
    const app = createServer({ name: 'explored', version: '1.0.0' })
    app.tool('first', { description: 'Is first.' }, () => '')
    const running = await app.listen({ http: { port: 0 } })
    onTestFinished(() => running.close())
    const commands = commandsIn(project.read('README.md'))
    expect(commands.length).toBeGreaterThan(3)
    for (const command of commands) {
      // A minute is enough for a whole run on a machine that does nothing else.
      const text = command
        .replace('http://127.0.0.1:3000/mcp', String(running.url))
        .replace('pierhead validate', 'pierhead validate --total 5m')
      const { code, text: printed } =
        command === 'npm run dev'
          ? { code: 0, text: await project.until(text, /serving server\.ts at http/, { PORT: '0' }) }
          : await project.run(text)
      expect({ command, code, printed }).toEqual({ command, code: 0, printed: expect.any(String) })
      // Logs are for people.
      expect(printed).not.toMatch(/^\{"|^ {2}"(?:passed|file)":/m)
    }
  })

  it.each(TEMPLATES)(
    'passes its tests with Node 22, which its CI runs too: %s',
    { timeout: 300_000 },
    async (template) => {
      const project = projectOf(template)
      expect(project.read('.github/workflows/test.yml')).toContain('[20, 22, 24]')
      const PATH = [
        dirname(await nodeBinary(22)),
        join(project.home, 'node_modules/.bin'),
        process.env['PATH'],
      ].join(':')
      expect(await project.run('node --version', { PATH })).toMatchObject({
        text: expect.stringMatching(/^v22\./),
      })
      const { code, text } = await project.run('npm test', { PATH })
      expect({ code, text }).toEqual({ code: 0, text: expect.any(String) })
    },
  )

  it.each(TEMPLATES)('names files that exist: %s', (template) => {
    const project = projectOf(template)
    const files = [...project.read('README.md').matchAll(/^\| `([^`]+)` /gm)].map(([, name = '']) => name)
    const named = files.filter((name) => !/^[A-Z_]+$/.test(name))
    expect(named).toContain('Dockerfile')
    expect(named.filter((name) => !existsSync(join(project.home, name)))).toEqual([])
  })
})

describe('a template', () => {
  it.each(SERVERS)('has all that the files of add need: %s', { timeout: 300_000 }, async (template) => {
    const project = await CreatedProject.create(folder, template, `grown-${template}`)
    for (const words of ['tool word-count', 'prompt review', 'resource book'])
      expect(await project.run(`pierhead add ${words}`)).toMatchObject({ code: 0 })
    for (const script of ['check', 'test']) {
      const { code, text } = await project.run(`npm run ${script}`)
      expect({ script, code, text }).toEqual({ script, code: 0, text: expect.any(String) })
    }
  })

  it.each(TEMPLATES)('installs in its image and in CI what its lock file says: %s', (template) => {
    const project = projectOf(template)
    const workflows = ['.github/workflows/test.yml', '.github/workflows/validate.yml']
    const files = ['Dockerfile', ...workflows.filter((path) => existsSync(join(project.home, path)))]
    for (const path of files) expect(project.read(path)).toMatch(/npm ci\b/)
    for (const path of files) expect(project.read(path)).not.toContain('npm install')
  })

  it('imports zod so that bundlers leave out what it does not use', async () => {
    const project = await CreatedProject.create(folder, 'minimal', 'small')
    expect(await project.run('pierhead add tool word-count')).toMatchObject({ code: 0 })
    for (const path of ['tools/add.ts', 'tools/word-count.ts'])
      expect(project.read(path)).toContain("import * as z from 'zod'")
  })

  it('has one server, which asks callers over HTTP to log in', async () => {
    const project = projectOf('http')
    expect(project.manifest).toMatchObject({ pierhead: { server: 'server.ts' } })
    const printed = await project.until('pierhead dev --json', /"event":"listening"[^]*\n/, { PORT: '0' })
    expect(printed).toContain('server.ts"')
  })

  it.each(TEMPLATES)('keeps packages, builds and databases out of git and of images: %s', (template) => {
    const project = projectOf(template)
    for (const file of ['.gitignore', '.dockerignore'])
      expect(project.read(file).split('\n')).toEqual(
        expect.arrayContaining(['node_modules', 'dist', '*.db', '*.db-*', '*.before-pierhead-*']),
      )
    expect(project.read('.dockerignore').split('\n')).toContain('.git')
  })

  it(
    'runs long work as the user of the image, who may write only to the data folder',
    { timeout: 120_000 },
    async () => {
      const project = projectOf('tasks')
      expect(await project.run('npm run build')).toMatchObject({ code: 0 })
      const image = join(folder, 'image')
      for (const name of ['app', 'data', 'node_modules']) mkdirSync(join(image, name), { recursive: true })
      cpSync(join(project.home, 'dist/server.js'), join(image, 'app/server.mjs'))
      // The image has a Node with SQLite, this machine may not.
      for (const name of ['libsql', '@libsql', '@neon-rs', 'detect-libc'])
        symlinkSync(resolve('node_modules', name), join(image, 'node_modules', name))
      chmodSync(folder, 0o755)
      chmodSync(join(image, 'app'), 0o555)
      chmodSync(join(image, 'data'), 0o777)
      const port = await freePort()
      const child = spawn(process.execPath, ['server.mjs'], {
        cwd: join(image, 'app'),
        env: { PORT: String(port), NODE_ENV: 'production', DATA_DIR: join(image, 'data') },
        stdio: ['ignore', 'pipe', 'pipe'],
        // Root may write everywhere.
        ...(process.getuid?.() === 0 && { uid: 65_534, gid: 65_534 }),
      })
      let printed = ''
      child.stderr.setEncoding('utf8').on('data', (part: string) => (printed += part))
      try {
        const ended = new Promise<never>((_, failed) => {
          child.on('close', (code) => failed(new Error(`ended with ${String(code)}: ${printed}`)))
        })
        while (!(await Promise.race([isOpen(port), ended]))) await pause(50)
        await using client = await connect(`http://127.0.0.1:${port}/mcp`)
        expect(await client.call('report', { pages: 1 })).toEqual({ pages: 1, words: 101 })
        expect(existsSync(join(image, 'data/work.db'))).toBe(true)
      } finally {
        child.kill()
        chmodSync(join(image, 'app'), 0o755)
      }
    },
  )

  it('says in two lines that a server does not answer', async () => {
    const { code, text } = await projectOf('client').run('npm start --silent -- http://127.0.0.1:1/mcp')
    expect(code).toBe(1)
    expect(text).toMatch(/^error: .*127\.0\.0\.1:1.*\nfix: .*\n$/)
  })
})

describe('create', () => {
  it('quotes a folder with spaces, and gives the package a name that npm likes', async () => {
    const { stdout } = await line(['create', "Ann's Server!", '--no-install'], {
      cwd: folder,
      terminal: true,
    })
    expect(stdout).toContain('Created ann-s-server, without its packages. Next:')
    expect(stdout).toContain(String.raw`cd 'Ann'\''s Server!'`)
  })

  it('names this copy of the package by a path that is relative to the project', () => {
    const { home, manifest } = projectOf('minimal')
    expect(manifest.dependencies['pierhead']).toMatch(/^file:\.\./)
    expect(resolve(home, manifest.dependencies['pierhead']?.slice(5) ?? '')).toBe(resolve('.'))
  })
})
