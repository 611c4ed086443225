import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect } from 'pierhead/client'
import { createServer, type Running } from 'pierhead'
import { build, isStale } from '../../tools/build.ts'
import { COMMAND, line, spawnLine } from './line.ts'

let folder = ''

beforeAll(async () => {
  // Projects compile against the declarations of the package.
  if (isStale()) await build()
  folder = mkdtempSync(join(tmpdir(), 'pierhead-project-'))
})

afterAll(() => rmSync(folder, { recursive: true }))

/** A new project with the packages of this repository. */
async function project(name: string, ...more: readonly string[]): Promise<string> {
  const { code, stderr } = await line(['create', name, '--no-install', ...more], { cwd: folder })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const modules = join(folder, name, 'node_modules')
  mkdirSync(modules)
  symlinkSync(resolve('.'), join(modules, 'pierhead'))
  for (const one of ['zod', 'esbuild', 'typescript', '@types', 'libsql'])
    symlinkSync(resolve('node_modules', one), join(modules, one))
  return join(folder, name)
}

describe('create', () => {
  it('makes a project with tools, fixtures, a test, a Dockerfile, a CI file and AGENTS.md [S1-11-1]', async () => {
    const home = await project('my-server')
    for (const file of [
      'server.ts',
      'tools/index.ts',
      'fixtures/add.json',
      'test/add.test.ts',
      'Dockerfile',
      '.github/workflows/test.yml',
      'AGENTS.md',
      '.gitignore',
      'tsconfig.json',
    ])
      expect(existsSync(join(home, file))).toBe(true)
    expect(readFileSync(join(home, 'server.ts'), 'utf8')).toContain("name: 'my-server'")
    const { dependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
    expect(resolve(home, dependencies.pierhead.slice('file:'.length))).toBe(resolve('.'))
  })

  it.each([
    [['create'], 'the folder is missing'],
    [['create', 'full'], 'already exists and is not empty'],
    [['create', 'x', '--template', 'minimla'], 'did you mean "minimal"?'],
    [['create', '...'], 'is not a name for a project'],
  ])('rejects %j', async (args, text) => {
    mkdirSync(join(folder, 'full/inner'), { recursive: true })
    const { code, stderr } = await line(args, { cwd: folder })
    expect(code).toBe(2)
    expect(stderr).toContain(text)
  })
})

describe('add', () => {
  it('adds a tool, a resource and a prompt that pass their tests [S4-0-2]', async () => {
    const home = await project('grows')
    for (const [kind, name] of [
      ['tool', 'word-count'],
      ['resource', 'book'],
      ['prompt', 'review'],
    ] as const) {
      const { code, stdout } = await line(['add', kind, name], { cwd: home })
      expect({ code, isChanged: JSON.parse(stdout).isChanged }).toEqual({ code: 0, isChanged: true })
    }
    const files = readdirSync(join(home, 'test')).map((name) => join('test', name))
    expect(files).toHaveLength(4)
    const tested = spawnSync(process.execPath, [...COMMAND.slice(0, -1), '--test', ...files], {
      cwd: home,
      encoding: 'utf8',
    })
    expect({ status: tested.status, output: tested.stdout }).toMatchObject({ status: 0 })
    const fixtures = await spawnLine(['test'], { cwd: home })
    expect(JSON.parse(fixtures.stdout)).toMatchObject({ passed: 3, failed: 0 })
  })

  it.each([
    [['add', 'tol', 'x'], '"tol" is not a kind'],
    [['add', 'tool', '../x'], 'is not a name'],
    [['add', 'tool'], 'the name is missing'],
  ])('rejects %j', async (args, text) => {
    const { code, stderr } = await line(args, { cwd: folder })
    expect(code).toBe(2)
    expect(stderr).toContain(text)
  })

  it('changes nothing that exists, and says where there is no project', async () => {
    const home = await project('kept')
    expect((await line(['add', 'tool', 'add'], { cwd: home })).stderr).toContain(
      'tools/add.ts already exists',
    )
    expect((await line(['add', 'tool', 'x'], { cwd: folder })).stderr).toContain('this folder has no project')
  })
})

describe('a project', () => {
  it('answers the commands that name no target', async () => {
    const home = await project('answers')
    const { stdout, stderr } = await spawnLine(['call', 'add', 'a=1', 'b=2'], { cwd: home })
    expect({ stderr, result: JSON.parse(stdout).structuredContent }).toEqual({
      stderr: '',
      result: { sum: 3 },
    })
    const fixtures = await spawnLine(['test'], { cwd: home })
    expect(JSON.parse(fixtures.stdout)).toMatchObject({ passed: 2, failed: 0 })
    const below = await spawnLine(['test'], { cwd: join(home, 'tools') })
    expect(JSON.parse(below.stdout)).toMatchObject({ passed: 2, failed: 0 })
    const all = await spawnLine(['test', '--generate'], { cwd: home })
    expect(JSON.parse(all.stdout)).toMatchObject({ passed: 8, failed: 0, skipped: [] })
  })

  it.each(['minimal', 'http', 'tasks', 'client'])(
    'from the template %s has no type errors, and its tests pass',
    async (template) => {
      const home = await project(`from-${template}`, '--template', template)
      const checked = spawnSync(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', home], {
        encoding: 'utf8',
      })
      expect({ status: checked.status, stdout: checked.stdout }).toEqual({ status: 0, stdout: '' })
      const files = readdirSync(join(home, 'test')).map((name) => join('test', name))
      const tested = spawnSync(process.execPath, [...COMMAND.slice(0, -1), '--test', ...files], {
        cwd: home,
        encoding: 'utf8',
      })
      expect({ status: tested.status, output: tested.stdout }).toMatchObject({ status: 0 })
      const fixtures = template === 'client' ? undefined : await spawnLine(['test'], { cwd: home })
      expect(JSON.parse(fixtures?.stdout ?? '{"failed":0}')).toMatchObject({ failed: 0 })
    },
  )

  it('is built into one file that needs no packages', async () => {
    const home = await project('built')
    const { code, stdout } = await spawnLine(['build'], { cwd: home })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      file: expect.stringMatching(/^[/A-Z].*server\.js$/),
      external: expect.any(Array),
    })
    const alone = join(folder, 'alone.mjs')
    cpSync(join(home, 'dist/server.js'), alone)
    await using client = await connect({ command: process.execPath, args: [alone] })
    expect(await client.call('add', { a: 2, b: 3 })).toEqual({ sum: 5 })
  })

  it('says what is wrong with a file that holds no server', async () => {
    const file = join(folder, 'nothing.mjs')
    writeFileSync(file, 'export const nothing = 1\n')
    const { code, stderr } = await spawnLine(['run', file])
    expect(code).toBe(1)
    expect(stderr).toContain('neither exports a server nor calls listen()')
  })

  it('runs a program over HTTP, whatever it says itself', async () => {
    const file = join(folder, 'own.mjs')
    const source = resolve('src/index.ts')
    writeFileSync(
      file,
      `import { createServer } from ${JSON.stringify(source)}\nawait createServer({ name: 'own', version: '1.0.0' }).listen()\n`,
    )
    const child = spawn(process.execPath, [...COMMAND, 'run', file, '--http', '--port', '0'])
    try {
      let text = ''
      const url = await new Promise<string>((found, failed) => {
        child.on('exit', () => failed(new Error(text)))
        child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
          const [address] = /http:\/\/\S+/.exec(text) ?? []
          if (address !== undefined) found(address)
        })
      })
      await using client = await connect(url)
      expect((await client.server()).info).toMatchObject({ name: 'own' })
    } finally {
      child.kill()
    }
  })
})

describe('test', () => {
  let running: Running

  beforeAll(async () => {
    const app = createServer({ name: 'tested', version: '1.0.0' })
    const input = {
      type: 'object',
      properties: { n: { type: 'number', minimum: 0 } },
      required: ['n'],
    } as const
    app.tool('double', { input, hints: { readOnly: true } }, ({ n }) => String(n * 2))
    app.tool('delete', { input }, () => 'gone')
    running = await app.listen({ http: { port: 0 } })
  })

  afterAll(() => running.close())

  async function tested(
    fixtures: unknown,
    ...more: readonly string[]
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    const home = mkdtempSync(join(folder, 'test-'))
    mkdirSync(join(home, 'fixtures'))
    writeFileSync(
      join(home, 'fixtures/double.json'),
      typeof fixtures === 'string' ? fixtures : JSON.stringify(fixtures),
    )
    const outcome = await line(['test', running.url ?? '', ...more], { cwd: home })
    return {
      ...outcome,
      stdout: more.includes('--update')
        ? readFileSync(join(home, 'fixtures/double.json'), 'utf8')
        : outcome.stdout,
    }
  }

  it('fails for outputs and errors that differ', async () => {
    const { code, stdout } = await tested([
      { input: { n: 2 }, output: '4' },
      { input: { n: 2 }, output: '5' },
      { input: { n: 2 }, error: true },
      { input: { n: -1 }, error: true },
      { input: { n: -1 }, error: 'no such text' },
    ])
    expect(code).toBe(8)
    expect(
      JSON.parse(stdout).cases.map(({ problem }: { problem?: string }) => problem === undefined),
    ).toEqual([true, false, false, true, false])
  })

  it('writes what the tools answer with --update', async () => {
    const { stdout } = await tested([{ name: 'two', input: { n: 2 }, output: 'wrong' }], '--update')
    expect(JSON.parse(stdout)).toEqual([{ name: 'two', input: { n: 2 }, output: '4' }])
  })

  it('makes cases from schemas, counts them, and calls only what is read-only [S4-0-3]', async () => {
    const { code, stdout } = await tested([], '--generate')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ passed: 5, failed: 0, skipped: ['delete'] })
  })

  it.each([
    ['{', 'cannot be used'],
    ['{}', 'is not a list'],
    ['[{}]', 'fixture 1 has no input'],
    ['[{"input":{},"error":1}]', 'neither true nor a text'],
    ['[]', 'there is nothing to test'],
  ])('rejects the fixtures %s', async (text, problem) => {
    const { code, stderr } = await tested(text)
    expect(code).toBe(2)
    expect(stderr).toContain(problem)
  })
})
