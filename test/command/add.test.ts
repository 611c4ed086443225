import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { build, isStale } from '../../tools/build.ts'
import { COMMAND, line, spawnLine } from './line.ts'
import { linkPackages, programFolder } from './program-folder.ts'

beforeAll(async () => {
  // Projects compile against the declarations of the package.
  if (isStale()) await build()
}, 300_000)

/** A new project with the packages of this repository. */
async function project(...more: readonly string[]): Promise<string> {
  const folder = programFolder({})
  expect(await line(['create', 'home', '--no-install', ...more], { cwd: folder })).toMatchObject({ code: 0 })
  linkPackages(join(folder, 'home'))
  return join(folder, 'home')
}

async function add(home: string, kind: string, name: string): Promise<void> {
  const { code, stdout, stderr } = await line(['add', kind, name], { cwd: home })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(stdout).isChanged).toBe(true)
}

/** Checks the types of a project, and runs its tests and fixtures. */
async function check(home: string): Promise<void> {
  const compiler = resolve('node_modules/typescript/bin/tsc')
  const checked = spawnSync(process.execPath, [compiler, '-p', home], { encoding: 'utf8' })
  expect(checked.stdout).toBe('')
  // One process runs them all, which is faster than `node --test`.
  const script = readdirSync(join(home, 'test')).map((name) => `import ${JSON.stringify(`./test/${name}`)}`)
  const args = [...COMMAND.slice(0, -1), '--input-type=module', '--eval', script.join('\n')]
  const tested = spawnSync(process.execPath, args, { cwd: home, encoding: 'utf8' })
  expect({ status: tested.status, output: tested.stdout }).toMatchObject({ status: 0 })
  expect(JSON.parse((await spawnLine(['test'], { cwd: home })).stdout)).toMatchObject({ failed: 0 })
}

/** What a command about the server of a project prints. */
async function answer(home: string, ...args: readonly string[]): Promise<unknown> {
  const { stdout, stderr } = await spawnLine(args, { cwd: home })
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

it(
  'adds items whose names are words of the language, names in the file that they join, the same in code, or not valid schemes',
  { timeout: 180_000 },
  async () => {
    const home = await project()
    for (const name of ['delete', 'default', 'a-b', 'a_b', 'aB']) await add(home, 'tool', name)
    for (const name of ['app', 'tools', 'p-q', 'p_q']) await add(home, 'prompt', name)
    for (const name of ['class', 'word_count', 'Word-Count', 'http', 'file'])
      await add(home, 'resource', name)
    await check(home)
    expect(await answer(home, 'call', 'delete', 'text=gone')).toMatchObject({ content: [{ text: 'gone' }] })
    expect(await answer(home, 'call', 'a_b', 'text=2')).toMatchObject({ content: [{ text: '2' }] })
    expect(await answer(home, 'prompt', 'app', 'topic=tides')).toMatchObject({ messages: [{ role: 'user' }] })
    expect(await answer(home, 'read', 'word-count://7')).toMatchObject({
      contents: [{ text: 'This is word_count 7.' }],
    })
    expect(await answer(home, 'read', 'word-count-2://7')).toMatchObject({
      contents: [{ text: 'This is Word-Count 7.' }],
    })
  },
)

it('finds the way from a server in another folder', { timeout: 180_000 }, async () => {
  const home = await project()
  mkdirSync(join(home, 'src'))
  const server = readFileSync(join(home, 'server.ts'), 'utf8').replace('./tools/', '../tools/')
  renameSync(join(home, 'server.ts'), join(home, 'src/server.ts'))
  writeFileSync(join(home, 'src/server.ts'), server)
  const test = join(home, 'test/add.test.ts')
  writeFileSync(test, readFileSync(test, 'utf8').replace('../server.ts', '../src/server.ts'))
  const manifest = join(home, 'package.json')
  writeFileSync(
    manifest,
    readFileSync(manifest, 'utf8').replace('"server": "server.ts"', '"server": "src/server.ts"'),
  )
  await add(home, 'prompt', 'review')
  await add(home, 'tool', 'more')
  await add(home, 'resource', 'book')
  await check(home)
  expect(existsSync(join(home, 'tools/more.ts'))).toBe(true)
  expect(await answer(home, 'prompt', 'review', 'topic=tides')).toMatchObject({
    messages: [{ role: 'user' }],
  })
})

it('puts items beside the server if the project has its tools there', async () => {
  const home = await project()
  mkdirSync(join(home, 'src'))
  for (const name of ['server.ts', 'tools']) renameSync(join(home, name), join(home, 'src', name))
  const test = join(home, 'test/add.test.ts')
  writeFileSync(test, readFileSync(test, 'utf8').replace('../server.ts', '../src/server.ts'))
  const manifest = join(home, 'package.json')
  writeFileSync(
    manifest,
    readFileSync(manifest, 'utf8').replace('"server": "server.ts"', '"server": "src/server.ts"'),
  )
  await add(home, 'tool', 'more')
  await check(home)
  expect(existsSync(join(home, 'src/tools/more.ts'))).toBe(true)
})

it('writes schemas without zod where the project has none', async () => {
  const home = await project('--template', 'http')
  rmSync(join(home, 'node_modules/zod'))
  await add(home, 'tool', 'more')
  await add(home, 'prompt', 'review')
  await check(home)
  expect(await answer(home, 'call', 'more', 'text=1')).toMatchObject({ content: [{ text: '1' }] })
})

it('says that a project of a client has no server', async () => {
  const home = await project('--template', 'client')
  const { code, stderr } = await line(['add', 'tool', 'x'], { cwd: home })
  expect(code).toBe(2)
  expect(stderr).toContain('package.json names no server')
})

it('suggests the kind that was meant', async () => {
  const { code, stderr } = await line(['add', 'tol', 'x'], { cwd: programFolder({}) })
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'error: "tol" is not a kind; did you mean "tool"?\nfix: The kinds are tool, resource, prompt.\n',
  })
})

it('says that the server that package.json names is not there', async () => {
  const home = programFolder({ 'package.json': '{ "pierhead": { "server": "gone.ts" } }' })
  const { code, stderr } = await line(['add', 'tool', 'x'], { cwd: home })
  expect(code).toBe(2)
  expect(stderr).toContain('there is no file gone.ts')
})

it('writes only inside the project, and no text of a path as code', async () => {
  const server = `import { createServer } from 'pierhead'\nconst app = createServer({ name: 'a', version: '1' })\nexport default app\n`
  const folder = programFolder({
    'outside.ts': server,
    'away/package.json': '{ "pierhead": { "server": "../outside.ts" } }',
    'quoted/package.json': JSON.stringify({ pierhead: { server: `a'+evil()+'.ts` } }),
    [`quoted/a'+evil()+'.ts`]: server,
    'linked/package.json': '{ "pierhead": { "server": "server.ts" } }',
    'linked/server.ts': server,
    'target/nothing.txt': '',
  })
  symlinkSync(join(folder, 'target'), join(folder, 'linked/test'))
  const refused = async (home: string): Promise<string> => {
    const { code, stderr } = await line(['add', 'prompt', 'x'], { cwd: join(folder, home) })
    expect(code).toBe(2)
    return stderr
  }
  expect(await refused('away')).toContain('out of the project')
  expect(await refused('quoted')).toContain('Rename the file')
  expect(await refused('linked')).toContain('out of the project')
  expect(readFileSync(join(folder, 'outside.ts'), 'utf8')).toBe(server)
  expect(readdirSync(join(folder, 'target'))).toEqual(['nothing.txt'])
})
