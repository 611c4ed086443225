import { spawnSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { build, isStale } from '../../tools/build.ts'
import { line, spawnLine, type Outcome } from './line.ts'
import { linkPackages } from './program-folder.ts'

/** The number of another user. */
const OTHER = 12_345

let [folder, cwd] = ['', '']

beforeAll(async () => {
  // Programs are built with the package.
  if (isStale()) await build()
}, 300_000)

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'pierhead-project-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cwd = join(folder, 'project')
  mkdirSync(cwd)
})

/** Writes files below the folder of the test. */
function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

function give(...names: string[]): void {
  for (const name of names) chownSync(join(folder, name), OTHER, OTHER)
}

function run(...args: string[]): Promise<Outcome> {
  return line(args, { cwd, env: { HOME: join(folder, 'home'), USERPROFILE: join(folder, 'home') } })
}

/** The same in a process of its own, which servers need that the command starts. */
function start(...args: string[]): Promise<Outcome> {
  return spawnLine(args, { cwd, env: { HOME: join(folder, 'home') } })
}

const MANIFEST = '{"type":"module","pierhead":{"server":"server.mjs"}}'
const SERVER = `import { createServer } from 'pierhead'
const app = createServer({ name: 'h', version: '1.0.0' })
app.tool('t', { description: 'x' }, () => ({ evil: 'chosen by server' }))
export default app
`
/** What shows that a file ran. */
const TRACE = `import { writeFileSync } from 'node:fs'
writeFileSync(new URL('ran', import.meta.url), '')
process.exit(3)
`

/** A project with a server that has one tool. */
function project(files: Readonly<Record<string, string>> = {}): void {
  write({ 'project/package.json': MANIFEST, 'project/server.mjs': SERVER, ...files })
  linkPackages(cwd)
}

// Only the administrator can make files of other users.
describe.runIf(process.getuid?.() === 0)('files of other users', () => {
  it.each([
    ['list'],
    ['ping'],
    ['call', 't', 'a=1'],
    ['test'],
    ['validate', '--total', '5s'],
    ['build'],
    ['dev'],
    ['run'],
    ['list', 'weather'],
    ['add', 'tool', 'x'],
  ])('name no server: %s %s', async (...args) => {
    write({ 'package.json': MANIFEST, 'server.mjs': TRACE })
    give('package.json', 'server.mjs')
    const { code, stderr } = await run(...args)
    expect(code).toBe(2)
    expect(stderr).toContain(
      `${join(folder, 'package.json')} was not read, because it belongs to another user`,
    )
    expect(existsSync(join(folder, 'ran'))).toBe(false)
    expect(readdirSync(folder).toSorted()).toEqual(['package.json', 'project', 'server.mjs'])
  })

  it('are named by doctor, which starts none', async () => {
    write({ 'package.json': MANIFEST, 'server.mjs': TRACE })
    give('package.json')
    const { stdout } = await run('doctor')
    expect(stdout).toContain(
      `${join(folder, 'package.json')} was not read, because it belongs to another user`,
    )
    expect(existsSync(join(folder, 'ran'))).toBe(false)
  })

  it('are not run for a package.json of the user', async () => {
    write({ 'project/package.json': MANIFEST, 'project/server.mjs': TRACE })
    give('project/server.mjs')
    const { code, stderr } = await run('list')
    expect(code).toBe(2)
    expect(stderr).toContain(`${join(cwd, 'server.mjs')} was not run, because it belongs to another user`)
    expect(stderr).toContain('If you trust it, name it')
    expect(existsSync(join(cwd, 'ran'))).toBe(false)
  })

  it('are run if they are named', async () => {
    write({ 'project/server.mjs': TRACE })
    give('project/server.mjs')
    await start('list', 'server.mjs')
    expect(existsSync(join(cwd, 'ran'))).toBe(true)
  })

  it.each(['fixtures', 'fixtures/t.json'])('are no fixtures: %s', async (name) => {
    project({ 'project/fixtures/t.json': '[{"input":{}}]' })
    give(`project/${name}`)
    const { code, stderr } = await start('test')
    expect(code).toBe(2)
    expect(stderr).toContain(`${join(cwd, name)} was not read, because it belongs to another user`)
    expect((await start('test', '--fixtures', 'fixtures')).stderr).not.toContain('another user')
  })

  it('do not say where a program is built', async () => {
    project()
    rmSync(join(cwd, 'package.json'))
    write({ 'package.json': '{}' })
    give('package.json')
    expect(await run('build', 'server.mjs')).toMatchObject({ code: 0 })
    expect(readdirSync(folder)).not.toContain('dist')
    expect(existsSync(join(cwd, 'dist/server.js'))).toBe(true)
  })
})

it('does not search a server above the root of the project or the home folder', async () => {
  write({ 'package.json': MANIFEST, 'server.mjs': TRACE, 'project/.git/HEAD': '' })
  expect((await run('list')).stderr).toContain('there is no target')
  write({ 'home/a/b.txt': '' })
  const { stderr } = await line(['list'], {
    cwd: join(folder, 'home/a'),
    env: { HOME: join(folder, 'home') },
  })
  expect(stderr).toContain('there is no target')
  expect(existsSync(join(folder, 'ran'))).toBe(false)
})

describe('links out of the project', () => {
  it('are not written by build, to a file or a folder', async () => {
    project({ 'home/.bashrc': 'mine', 'project/dist/a.txt': '' })
    symlinkSync('../../home/.bashrc', join(cwd, 'dist/server.js'))
    const file = await run('build')
    expect(file.code).not.toBe(0)
    expect(file.stderr).toContain(join(folder, 'home/.bashrc'))
    expect(readFileSync(join(folder, 'home/.bashrc'), 'utf8')).toBe('mine')
    rmSync(join(cwd, 'dist'), { recursive: true })
    symlinkSync('../home', join(cwd, 'dist'))
    for (const args of [
      ['build'],
      ['build', '--out', 'dist/new.js'],
      ['build', '--out', join(cwd, 'dist/new.js')],
    ]) {
      const { code, stderr } = await run(...args)
      expect(code).not.toBe(0)
      expect(stderr).toContain('leads out of the project')
    }
    expect(readdirSync(join(folder, 'home'))).toEqual(['.bashrc'])
  })

  it('are not written beside a bundle', async () => {
    project({ 'home/.bashrc': 'mine', 'project/dist/a.txt': '' })
    symlinkSync('../../home/.bashrc', join(cwd, 'dist/server.js.map'))
    expect((await run('build', '--source-map')).code).not.toBe(0)
    expect(readFileSync(join(folder, 'home/.bashrc'), 'utf8')).toBe('mine')
    expect(existsSync(join(cwd, 'dist/server.js'))).toBe(false)
  })

  it('are neither read nor written as fixtures', async () => {
    const text = '[{"input":{},"output":{"evil":"ORIGINAL"}}]'
    project({ 'other/data.json': text, 'project/fixtures/a.txt': '' })
    symlinkSync('../../other/data.json', join(cwd, 'fixtures/t.json'))
    for (const args of [['test'], ['test', '--update'], ['test', '--update', '--fixtures', 'fixtures']]) {
      const { code, stderr } = await start(...args)
      expect(code).toBe(2)
      expect(stderr).toContain(`leads out of the project, to ${join(folder, 'other/data.json')}`)
    }
    expect(readFileSync(join(folder, 'other/data.json'), 'utf8')).toBe(text)
    rmSync(join(cwd, 'fixtures'), { recursive: true })
    symlinkSync('../other', join(cwd, 'fixtures'))
    expect((await start('test', '--update')).stderr).toContain('leads out of the project')
    expect((await start('test', '--update', '--fixtures', 'fixtures')).stderr).toContain(
      'leads out of the project',
    )
  })

  it('are followed as fixtures within the project, and the link stays', async () => {
    project({
      'project/data.json': '[{"input":{},"output":{"evil":"ORIGINAL"}}]',
      'project/fixtures/a.txt': '',
    })
    symlinkSync('../data.json', join(cwd, 'fixtures/t.json'))
    expect(await start('test', '--update')).toMatchObject({ code: 0 })
    expect(readFileSync(join(cwd, 'data.json'), 'utf8')).toContain('chosen by server')
    expect(lstatSync(join(cwd, 'fixtures/t.json')).isSymbolicLink()).toBe(true)
  })

  it('are not written by --report, to a folder either', async () => {
    project({ 'other/rep.html': '', 'project/in/a.txt': '' })
    symlinkSync('../../other', join(cwd, 'in/link'))
    for (const file of ['in/link/rep.html', join(cwd, 'in/link/rep.html'), 'in/link/new.html']) {
      const { code, stderr } = await run('validate', '--total', '3s', '--report', file)
      expect(code).toBe(1)
      expect(stderr).toContain('leads out of the project')
    }
    expect(readdirSync(join(folder, 'other'))).toEqual(['rep.html'])
    expect(readFileSync(join(folder, 'other/rep.html'), 'utf8')).toBe('')
  })
})

describe.runIf(process.platform !== 'win32')('files that never end', () => {
  const devices: readonly (readonly [string, (path: string) => void])[] = [
    ['/dev/zero', (path) => symlinkSync('/dev/zero', path)],
    ['a pipe', (path) => void spawnSync('mkfifo', [path])],
  ]
  it.each(devices)('are no fixtures: %s', async (_, make) => {
    project({ 'project/fixtures/a.txt': '' })
    make(join(cwd, 'fixtures/t.json'))
    const { code, stderr } = await spawnLine(['test'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toMatch(/it is not a file|leads out of the project/)
  })

  it.each(devices)(
    'are no package.json: %s',
    async (_, make) => {
      write({ 'project/server.mjs': SERVER })
      make(join(cwd, 'package.json'))
      const named = [['list'], ['doctor'], ['test'], ['build']]
      const given = [
        ['doctor', 'server.mjs'],
        ['build', 'server.mjs'],
        ['run', 'server.mjs'],
      ]
      for (const args of [...named, ...given]) {
        const { code, stdout, stderr } = await spawnLine(args, { cwd })
        expect(code).not.toBe(0)
        expect(stdout + stderr).toContain('package.json cannot be read: it is not a file')
      }
    },
    60_000,
  )

  it.each(devices)('hold no keys: %s', async (_, make) => {
    make(join(cwd, 'keys.json'))
    expect((await run('keys', 'show', 'keys.json')).code).toBe(2)
  })

  it.each(devices)('are not replaced by a report: %s', async (_, make) => {
    project()
    make(join(cwd, 'rep.html'))
    const { code } = await run('validate', '--total', '3s', '--report', 'rep.html')
    expect(code).toBe(1)
    expect(statSync(join(cwd, 'rep.html')).isFile()).toBe(false)
  })
})
