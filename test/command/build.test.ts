import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'pierhead/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { DOCUMENTS } from '../../src/cli/documents.ts'
import { build, isStale } from '../../tools/build.ts'
import { line, spawnLine } from './line.ts'
import { programFolder } from './program-folder.ts'

beforeAll(async () => {
  // A bundle contains the built package.
  if (isStale()) await build()
}, 300_000)

/** The source of a server under a name. */
function server(name: string): string {
  return `const ${name} = createServer({ name: '${name}', version: '1.0.0' }).tool('name', {}, () => '${name}')\n`
}

const IMPORT = `import { createServer } from 'pierhead'\n`

/** Builds server.mjs, and connects to the result over stdio. */
async function nameIn(source: string, word: string = 'server.mjs'): Promise<unknown> {
  const home = programFolder({ 'server.mjs': source })
  const { code, stderr } = await line(['build', word], { cwd: home })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  await using client = await connect({ command: process.execPath, args: [join(home, 'dist/server.js')] })
  return await client.call('name', {})
}

describe('a built file serves', () => {
  it.each([
    ['the default export', `${IMPORT}${server('a')}${server('b')}export { b }\nexport default a\n`, 'a'],
    ['the only server', `${IMPORT}export ${server('one')}export const other = 1\n`, 'one'],
    [
      'the only server beside a default that is none',
      `${IMPORT}export ${server('one')}export default {}\n`,
      'one',
    ],
    ['a server that listens itself', `${IMPORT}${server('own')}await own.listen()\n`, 'own'],
    [
      'a server that listens without await',
      `${IMPORT}${server('own')}void own.listen()\nexport default own\n`,
      'own',
    ],
  ])('%s', async (_, source, name) => {
    expect(await nameIn(source)).toBe(name)
  })

  it('the export that was named', async () => {
    expect(await nameIn(`${IMPORT}export ${server('a')}export ${server('b')}`, 'server.mjs:b')).toBe('b')
  })

  it('once, if the program does not await listen()', async () => {
    const source = `${IMPORT}let listens = 0
const app = createServer({ name: 'own', version: '1.0.0' }).tool('name', {}, () => String(listens))
const { listen } = app
app.listen = (...args) => (listens++, listen.apply(app, args))
void app.listen()
export default app
`
    expect(await nameIn(source)).toBe('1')
  })
})

describe('build', () => {
  it.each([
    [['build', 'missing.ts'], 'there is no file missing.ts'],
    [['build', 'numbers.mjs', '--outt', 'x'], "unknown option '--outt'"],
    [['build'], 'there is no file to build'],
    [['build', 'numbers.mjs'], 'neither exports a server nor calls listen()'],
    [['build', 'forgotten.mjs'], 'neither exports a server nor calls listen()'],
    [['build', 'two.mjs:c'], 'does not export a server "c"'],
  ])('rejects %j', async (args, text) => {
    const home = programFolder({
      'numbers.mjs': 'export const a = 1\nexport const b = 2\n',
      'forgotten.mjs': `${IMPORT}${server('a')}`,
      'two.mjs': `${IMPORT}export ${server('a')}export ${server('b')}`,
    })
    const { code, stderr } = await line(args, { cwd: home })
    expect(code).not.toBe(0)
    expect(stderr).toContain(text)
    expect(existsSync(join(home, 'dist'))).toBe(false)
  })

  it('makes a file that says what is missing, where only running it can tell', async () => {
    const home = programFolder({ 'two.mjs': `${IMPORT}export ${server('a')}export ${server('b')}` })
    expect(await line(['build', 'two.mjs'], { cwd: home })).toMatchObject({ code: 0 })
    const { status, stderr } = spawnSync(process.execPath, ['dist/two.js'], { cwd: home, encoding: 'utf8' })
    expect(status).toBe(1)
    expect(stderr).toContain('Name one of its servers: two.mjs:a, two.mjs:b')
  })

  it('writes to dist of the project, whatever the current folder is', async () => {
    const home = programFolder({
      'package.json': '{ "type": "module", "pierhead": { "server": "src/server.mjs" } }',
      'src/server.mjs': `${IMPORT}export ${server('a')}`,
    })
    mkdirSync(join(home, 'docs'))
    const { code, stdout } = await spawnLine(['build'], { cwd: join(home, 'docs') })
    expect({ code, file: JSON.parse(stdout).file }).toEqual({
      code: 0,
      file: join(realpathSync(home), 'dist', 'server.js'),
    })
    expect(`{ ${Object.keys(JSON.parse(stdout)).join(', ')} }`).toBe(DOCUMENTS['build'])
    expect(existsSync(join(home, 'dist/server.js'))).toBe(true)
  })

  it.each([
    ['a server', `${IMPORT}export ${server('a')}`, 'PORT=3000 node dist/server.js'],
    ['a server that listens itself', `${IMPORT}${server('a')}void a.listen()\n`, 'node dist/server.js'],
    [
      'a server that it exports and that listens itself',
      `${IMPORT}export ${server('a')}await a.listen({ http: { port: 8080 } })\n`,
      'node dist/server.js',
    ],
    [
      'a client, which takes no port',
      `import { connect } from 'pierhead/client'\nvoid connect(process.argv[2])\n`,
      'node dist/server.js, with the arguments that it takes',
    ],
  ])('ends with the command that starts %s', async (_, source, command) => {
    const home = programFolder({ 'server.mjs': source })
    const { stdout } = await line(['build', 'server.mjs', '--no-json'], { cwd: home })
    expect(stdout).toMatch(/^Built dist\/server\.js, \d+ kB\. /)
    expect(stdout.split('Run it: ')[1]).toBe(`${command}\n`)
  })

  it('quotes the name of the file for the shell', async () => {
    const home = programFolder({ 'server.mjs': `${IMPORT}export ${server('a')}` })
    const { stdout } = await line(['build', 'server.mjs', '--no-json', '-o', 'o ut/x.js'], { cwd: home })
    expect(stdout).toContain('Built o ut/x.js, ')
    expect(stdout).toContain("node 'o ut/x.js'\n")
  })

  it.each([
    ['only an old Node needs', '', 'Install beside it for Node before 22.13: libsql\n'],
    ['the program itself uses', "import 'libsql'\n", 'Install beside it: libsql\n'],
  ])('names a package that %s', async (_, first, end) => {
    const home = programFolder({
      'server.mjs': `${first}${IMPORT}export ${server('a')}`,
      'node_modules/libsql/package.json': '{ "name": "libsql", "main": "index.js" }',
      'node_modules/libsql/index.js': '',
    })
    const { stdout } = await line(['build', 'server.mjs', '--no-json'], { cwd: home })
    expect(stdout.slice(stdout.indexOf('\n') + 1)).toBe(end)
  })

  it('says that it needs esbuild, also for JavaScript', async () => {
    const home = programFolder({ 'server.mjs': `${IMPORT}export ${server('a')}` })
    rmSync(join(home, 'node_modules/esbuild'))
    const { code, stderr } = await line(['build', 'server.mjs'], { cwd: home })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'error: build needs esbuild, and the project does not have it\nfix: npm install --save-dev esbuild\n',
    })
  })

  it.each([
    ['docs', 'docs cannot be written: it is a folder'],
    ['server.mjs/x.js', 'server.mjs/x.js cannot be written: server.mjs is not a folder'],
    ['/proc/pierhead/x.js', '/proc/pierhead/x.js cannot be written: '],
    ['/dev/null', '/dev/null cannot be written: it is not a file'],
  ])('says why it cannot write to %s, and what to do', { timeout: 60_000 }, async (out, problem) => {
    const home = programFolder({ 'server.mjs': `${IMPORT}export ${server('a')}`, 'docs/a.txt': '' })
    // In a process of its own, since it must not loop.
    const { code, stderr } = await spawnLine(['build', 'server.mjs', '-o', out], { cwd: home })
    expect(code).toBe(2)
    expect(stderr.replaceAll(`${home}/`, '')).toContain(`error: ${problem}`)
    expect(stderr).toContain('fix: Name another file: pierhead build --out dist/server.js')
  })

  it('writes a source map that node uses, if one is asked for', async () => {
    const home = programFolder({
      'server.mjs': `${IMPORT}export ${server('a')}\n\nthrow new Error('here')\n`,
    })
    const built = (): string =>
      spawnSync(process.execPath, ['--enable-source-maps', join(home, 'dist/server.js')], {
        encoding: 'utf8',
      }).stderr
    expect((await line(['build', 'server.mjs'], { cwd: home })).code).toBe(0)
    expect(existsSync(join(home, 'dist/server.js.map'))).toBe(false)
    expect(built()).not.toContain('server.mjs:5')
    expect((await line(['build', 'server.mjs', '--source-map'], { cwd: home })).code).toBe(0)
    expect(built()).toContain('server.mjs:5')
  })
})
