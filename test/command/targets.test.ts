import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { Flags, type Command } from '../../src/cli/command.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { pickTarget, programLabel, resolveTarget, type ResolvedTarget } from '../../src/cli/target.ts'
import { line, type Outcome } from './line.ts'

let cwd = ''

beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'pierhead-targets-')))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
})

function write(file: string, text: string): void {
  mkdirSync(dirname(join(cwd, file)), { recursive: true })
  writeFileSync(join(cwd, file), text)
}

/** Makes the folder a project with a server of its own. */
function makeProject(): void {
  write('package.json', '{"name":"own","pierhead":{"server":"server.ts"}}')
  write('server.ts', 'export default 1')
}

it('says how a project names its server, unless it does', async () => {
  const fix = 'a package.json with "pierhead": { "server": "server.ts" } names it for every command'
  for (const words of [['call', 'create_issue', 'title=x'], ['list'], ['validate', 'create_issue']])
    expect((await run(...words)).stderr).toContain(fix)
  makeProject()
  expect((await run('validate', 'create_issue')).stderr).not.toContain(fix)
})

function run(...args: string[]): Promise<Outcome> {
  return line(args, { cwd, env: { HOME: cwd, KEY: 'k1' } })
}

interface Picked {
  readonly target: ResolvedTarget
  readonly words: readonly string[]
}

/** What a line talks to, and the words that are left. */
function picked(text: string, flags: Record<string, string> = {}, folder: string = cwd): Picked {
  const [name, ...words] = text.split(' ')
  const command = COMMANDS.find((one) => one.name === name) as Command
  const io = { cwd: folder, env: { HOME: cwd, KEY: 'k1' } } as never
  return pickTarget({ words, program: [], command }, new Flags(Object.entries(flags)), io)
}

function resolved(word: string, flags: Record<string, string> = {}): ResolvedTarget {
  return resolveTarget(word, new Flags(Object.entries(flags)), {
    cwd,
    env: { HOME: cwd, KEY: 'k1' },
  } as never)
}

describe('the target of a line in a project', () => {
  beforeEach(makeProject)

  it.each([
    ['call add', 'server.ts', ['add']],
    ['call add a=1 b=2', 'server.ts', ['add', 'a=1', 'b=2']],
    ['call notes', 'server.ts', ['notes']],
    ['call notes text=a', 'server.ts', ['notes', 'text=a']],
    ['call notes @all.json', 'server.ts', ['notes', '@all.json']],
    ['call notes -', 'server.ts', ['notes', '-']],
    ['call notes add a=1', 'notes', ['add', 'a=1']],
    ['call server.ts add', 'server.ts', ['add']],
    ['call http://localhost:1/mcp', 'http://localhost:1/mcp', []],
    ['read https://example.com/page', 'server.ts', ['https://example.com/page']],
    ['read notes://a.ts', 'server.ts', ['notes://a.ts']],
    ['read notes notes://a.ts', 'notes', ['notes://a.ts']],
    [
      'read https://mcp.example/mcp https://example.com/page',
      'https://mcp.example/mcp',
      ['https://example.com/page'],
    ],
    ['watch notes://a.ts', 'server.ts', ['notes://a.ts']],
    ['list tools', 'server.ts', ['tools']],
    ['list notes', 'notes', []],
    ['list', 'server.ts', []],
    ['complete review language=Ty', 'server.ts', ['review', 'language=Ty']],
    ['complete notes review language=Ty', 'notes', ['review', 'language=Ty']],
  ])('%s is %s', (text, label, words) => {
    write('mcp.json', '{"mcpServers":{"notes":{"command":"notes"}}}')
    expect(picked(text)).toMatchObject({ target: { label }, words })
  })

  it('is found although a configuration above is damaged, unless the line needs that', () => {
    mkdirSync(join(cwd, 'below'))
    write('mcp.json', '{"mcpServers": oops')
    expect(picked('call add', {}, join(cwd, 'below'))).toMatchObject({ target: { label: 'server.ts' } })
    expect(picked('call add a', {}, join(cwd, 'below'))).toMatchObject({ target: { label: 'server.ts' } })
    expect(() => picked('list notes tools')).toThrow('is not valid JSON')
  })

  it('is that of --config, if there is one', () => {
    write('other.json', '{"mcpServers":{"other":{"command":"x"}}}')
    expect(picked('list other', { config: 'other.json' })).toMatchObject({ target: { label: 'other' } })
    expect(() => picked('list othr', { config: 'other.json' })).toThrow('did you mean "other"?')
  })

  it.each([
    [['install', 'wether', '--client', 'cursor', '--yes'], '"wether" is not a target'],
    [['doctor', 'wether'], '"wether" is not a target'],
    [['list', 'ftp://u:pw@x'], '"ftp://***@x" is not a target'],
    [['list', '/tmp'], '"/tmp" is not a target'],
    [['install', 'server.ts', '-s', 'server.ts', '--client', 'cursor', '--yes'], 'two targets'],
    [['doctor', 'server.ts', '--', 'node'], 'two targets'],
    [['info', '-s', 'a.ts', '--server-url', 'http://localhost:1/mcp'], 'two targets'],
  ])('is not guessed for %j', async (args, text) => {
    const { code, stderr } = await run(...args)
    expect(stderr).toContain(text)
    expect(code).toBe(2)
    expect(existsSync(join(cwd, '.cursor'))).toBe(false)
  })
})

describe('an entry of a configuration', () => {
  it.each([
    ['mcp.json', 'mcpServers'],
    ['.cursor/mcp.json', 'mcpServers'],
    ['.vscode/mcp.json', 'servers'],
    ['.zed/settings.json', 'context_servers'],
    ['.gemini/settings.json', 'mcpServers'],
  ])('may use the variables of editors in %s', (file, section) => {
    const entry = {
      command: '${workspaceFolder}/bin/x',
      args: ['${workspaceFolderBasename}', '${userHome}${/}y', '${env:KEY}', '${KEY}', '${NO:-z}', '${a b}'],
      env: { A: '${workspaceFolder}' },
    }
    write(file, JSON.stringify({ [section]: { notes: entry } }))
    expect(resolved('notes')).toMatchObject({
      label: 'notes',
      from: 'configuration',
      target: {
        command: join(cwd, 'bin/x'),
        args: [cwd.split('/').at(-1), join(cwd, 'y'), 'k1', 'k1', 'z', '${a b}'],
        env: { A: cwd },
        cwd,
      },
    })
  })

  it('may have its URL under the names of all clients', () => {
    const url = 'https://mcp.example/mcp'
    write(
      'mcp.json',
      JSON.stringify({
        mcpServers: {
          a: { url, headers: { 'X-Key': '${KEY}' } },
          b: { serverUrl: url },
          c: { httpUrl: url, type: 'http' },
          d: { command: { path: 'x', args: ['y'] } },
        },
      }),
    )
    expect(resolved('a').target).toEqual({ url, headers: { 'X-Key': 'k1' } })
    expect(resolved('b').target).toEqual({ url })
    expect(resolved('c').target).toEqual({ url })
    expect(resolved('d').target).toMatchObject({ command: 'x', args: ['y'] })
  })

  it.each([
    ['null', 'the server "n" is not an object'],
    ['"x"', 'the server "n" is not an object'],
    ['[]', 'the server "n" is not an object'],
    ['{}', 'the server "n" has neither a command nor a URL'],
    ['{"command":5}', '"command" that is not a text'],
    ['{"command":"x","args":"y"}', '"args" that are not a list of texts'],
    ['{"command":"x","env":{"A":1}}', 'values in "env" that are not texts'],
    ['{"command":"x","cwd":1}', '"cwd" that is not a text'],
    ['{"url":"nowhere"}', 'a URL that is not valid'],
    ['{"url":"https://x","headers":{"A":1}}', 'values in "headers" that are not texts'],
    ['{"command":"x","args":["${input:key}"]}', '${input:key}, which only an editor can fill in'],
    ['{"command":"x","args":["${NOT_SET}"]}', 'NOT_SET is not set'],
  ])('%s is rejected, and doctor says the same', async (entry, text) => {
    write('mcp.json', `{"mcpServers":{"n":${entry}}}`)
    const { code, stderr } = await run('info', 'n')
    expect(stderr).toContain(text)
    expect(stderr).toContain('fix: ')
    expect(code).toBe(2)
    const doctor = await run('doctor', 'n')
    expect(doctor.code).toBe(8)
    expect(JSON.stringify(JSON.parse(doctor.stdout).findings)).toContain(JSON.stringify(text).slice(1, -1))
  })

  it('is copied with its places filled in and its variables left', async () => {
    write(
      'mcp.json',
      '{"mcpServers":{"notes":{"command":"${workspaceFolder}/x","args":["${KEY}"]},"web":{"httpUrl":"https://mcp.example/mcp"}}}',
    )
    expect((await run('install', 'notes', '--client', 'cursor', '--yes')).code).toBe(0)
    expect((await run('install', 'web', '--client', 'cursor', '--yes')).code).toBe(0)
    expect(JSON.parse(readFileSync(join(cwd, '.cursor/mcp.json'), 'utf8')).mcpServers).toEqual({
      notes: { command: join(cwd, 'x'), args: ['${env:KEY}'] },
      web: { url: 'https://mcp.example/mcp' },
    })
  })

  it.each(['zed', 'gemini', 'vscode', 'cursor', 'claude-code'])(
    'that install wrote for %s is read',
    async (client) => {
      await run('install', 'https://mcp.example/mcp', '--client', client, '--name', 'web', '--yes')
      expect(resolved('web').target).toMatchObject({ url: 'https://mcp.example/mcp' })
    },
  )
})

it.each([
  [['node', 'server.mjs', '--token', 'x'], 'node server.mjs'],
  [['/usr/bin/node', 'server.mjs'], '/usr/bin/node server.mjs'],
  [['npx', '-y', 'some-server', 'secret'], 'npx some-server'],
  [['uv', 'run', 'server.py'], 'uv server.py'],
  [['node', '--import', 'tsx', 'server.ts'], 'node'],
  [['some-server', 'secret'], 'some-server'],
])('%j is called %j', (program, label) => {
  expect(programLabel(program)).toBe(label)
})
