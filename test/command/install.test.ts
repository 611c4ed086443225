import {
  chmodSync,
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
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { appFile, CLIENT_APPS } from '../../src/cli/client-apps.ts'
import { withMember, withoutMember } from '../../src/cli/jsonc-edit.ts'
import { parseJsonc } from '../../src/cli/jsonc.ts'
import { userFolders } from '../../src/cli/user-folders.ts'
import { line, type Outcome } from './line.ts'

let [home, cwd] = ['', '']

beforeEach(() => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pierhead-install-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  home = join(folder, 'home')
  cwd = join(folder, 'films')
  mkdirSync(home)
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'server.ts'), 'export default 1')
  writeFileSync(join(cwd, 'package.json'), '{"name":"@acme/films"}')
})

const env = (): Record<string, string> => ({
  HOME: home,
  USERPROFILE: home,
  XDG_CONFIG_HOME: join(home, '.config'),
})

function run(...args: string[]): Promise<Outcome> {
  return line(['install', ...args], { cwd, env: env() })
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(join(cwd, file), 'utf8'))
}

function backups(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => name.includes('before-pierhead'))
}

describe('install', () => {
  it.each(CLIENT_APPS.map((app) => [app.name, app] as const))(
    'adds a file to %s as an absolute command line, and takes it back',
    async (name, app) => {
      const file = appFile(app, { cwd, env: env() }, false) ?? ''
      mkdirSync(dirname(file), { recursive: true })
      const { code, stdout, stderr } = await run('server.ts', '--client', name, '--yes')
      expect({ code, changed: code === 0 && JSON.parse(stdout).isChanged }).toEqual({
        code: 0,
        changed: true,
      })
      expect(stderr).toContain('+ ')
      const config = JSON.parse(readFileSync(file, 'utf8'))
      const { command, args } = config[app.section].films
      expect(command).toBe(process.execPath)
      expect(args.slice(-3)).toEqual(['run', '--stdio', join(cwd, 'server.ts')])
      const again = await run('server.ts', '--client', name, '--yes')
      expect(JSON.parse(again.stdout).isChanged).toBe(false)
      const undone = await run('--client', name, '--undo', '--yes')
      expect(undone.code).toBe(0)
      expect(existsSync(file)).toBe(false)
      expect(backups(dirname(file))).toEqual([])
    },
  )

  it('spells a URL as each client does, and says so where one has none', async () => {
    const spelled = async (client: string): Promise<unknown> => {
      const { code, stdout, stderr } = await run(
        'https://mcp.notes.example/mcp',
        '--client',
        client,
        '--print',
      )
      return code === 0 ? JSON.parse(stdout).config : stderr
    }
    const url = 'https://mcp.notes.example/mcp'
    expect(await spelled('claude-code')).toEqual({ mcpServers: { notes: { type: 'http', url } } })
    expect(await spelled('cursor')).toEqual({ mcpServers: { notes: { url } } })
    expect(await spelled('vscode')).toEqual({ servers: { notes: { type: 'http', url } } })
    expect(await spelled('windsurf')).toEqual({ mcpServers: { notes: { serverUrl: url } } })
    expect(await spelled('claude-desktop')).toContain('cannot have a URL')
    expect(readdirSync(cwd).toSorted()).toEqual(['package.json', 'server.ts'])
  })

  it('never prints the values of variables and headers, and writes references where the client knows them', async () => {
    const args = [
      '--env',
      'A=hush1',
      '--env',
      'API_KEY',
      '--client',
      'cursor',
      '--',
      './server.ts',
      '--token',
      'hush2',
    ]
    const cursor = await run('--yes', ...args)
    expect(readJson('.cursor/mcp.json')).toEqual({
      mcpServers: {
        films: {
          command: join(cwd, 'server.ts'),
          args: ['--token', 'hush2'],
          env: { A: 'hush1', API_KEY: '${env:API_KEY}' },
        },
      },
    })
    const header = await run(
      'https://u:hush3@notes.example/mcp?k=hush4',
      '-H',
      'X-Key: hush5',
      '--client',
      'cursor',
      '--name',
      'notes',
      '--yes',
    )
    expect(readFileSync(join(cwd, '.cursor/mcp.json'), 'utf8')).toContain('hush5')
    const again = await run('--client', 'cursor', '--name', 'notes', '--yes', '--', 'node', 'x.js')
    const print = await run('--print', ...args)
    for (const { code, stdout, stderr } of [cursor, header, again, print]) {
      expect(code).toBe(0)
      expect(stdout + stderr).not.toContain('hush')
    }
    expect(again.stderr).toContain('-   "notes": {')
    const missing = await run('--client', 'zed', '--env', 'API_KEY', '--print', '--', 'node')
    expect(missing.code).toBe(2)
    expect(JSON.parse(missing.stdout)).toMatchObject({ error: { exit: 2 } })
  })

  it('copies an entry of another file with its variables, not with their values', async () => {
    writeFileSync(
      join(cwd, 'mcp.json'),
      '{"mcpServers":{"notes":{"command":"notes","args":["x"],"env":{"KEY":"${KEY}"}}}}',
    )
    await line(['install', 'notes', '--client', 'vscode', '--yes'], { cwd, env: { ...env(), KEY: 'hush' } })
    expect(readJson('.vscode/mcp.json')).toEqual({
      servers: { notes: { type: 'stdio', command: 'notes', args: ['x'], env: { KEY: '${env:KEY}' } } },
    })
  })

  it('keeps the folder of an entry where the client knows one, and warns elsewhere', async () => {
    const entry = { command: 'notes', args: [], cwd: 'below' }
    writeFileSync(join(cwd, 'mcp.json'), JSON.stringify({ mcpServers: { notes: entry } }))
    const known = await run('notes', '--client', 'vscode', '--yes')
    expect(known.stderr).not.toContain('warning')
    expect(readJson('.vscode/mcp.json')).toMatchObject({ servers: { notes: { cwd: join(cwd, 'below') } } })
    const unknown = await run('notes', '--client', 'cursor', '--yes')
    expect(unknown.stderr).toContain(`warning: the program runs in ${join(cwd, 'below')} so far, and Cursor`)
    expect(readJson('.cursor/mcp.json')).toEqual({ mcpServers: { notes: { command: 'notes', args: [] } } })
    const usual = await run('--client', 'vscode', '--print', '--', 'notes')
    expect(usual.stdout).not.toContain('cwd')
  })

  it.each([
    [['https://u:hush-hush@notes.example/mcp'], true],
    [['https://notes.example/mcp?key=hush'], true],
    [['https://notes.example/mcp?key=${env:KEY}'], false],
    [['https://notes.example/mcp', '-H', 'Authorization: Bearer ${env:KEY}'], false],
    [['https://notes.example/mcp', '-H', 'Authorization: Bearer hush'], true],
    [['--', 'notes', '--api-key', 'hush'], true],
    [['--', 'notes', '--verbose'], false],
  ])(
    'warns of secrets in a file of the project, which others cannot read then: %j',
    async (words, isSecret) => {
      const { code, stderr } = await run('--client', 'cursor', '--name', 'n', '--yes', ...words)
      expect(code).toBe(0)
      expect(stderr.includes('do not commit it, nor its copies mcp.json.before-pierhead-…')).toBe(isSecret)
      const isPrivate = (statSync(join(cwd, '.cursor/mcp.json')).mode & 0o077) === 0
      // Windows has no such modes.
      expect(isPrivate || process.platform === 'win32').toBe(isSecret || process.platform === 'win32')
    },
  )

  it('brings back a file that was empty', async () => {
    writeFileSync(join(cwd, '.mcp.json'), '')
    expect((await run('server.ts', '--client', 'claude-code', '--yes')).code).toBe(0)
    expect((await run('--client', 'claude-code', '--undo', '--yes')).code).toBe(0)
    expect(readFileSync(join(cwd, '.mcp.json'), 'utf8')).toBe('')
    expect(backups(cwd)).toEqual([])
  })

  it('keeps comments, the mode and links, and a backup beside the file', async () => {
    const real = join(cwd, 'real.json')
    const text =
      '{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t"a": { "command": "a" }, // first\r\n\t},\r\n\t"other": [1,],\r\n}\r\n'
    writeFileSync(real, text)
    chmodSync(real, 0o640)
    symlinkSync(real, join(cwd, '.mcp.json'))
    const { stdout } = await run('server.ts', '--client', 'claude-code', '--yes')
    const changed = readFileSync(real, 'utf8')
    expect(changed).toContain('// mine')
    expect(changed).toContain('{ "command": "a" }, // first\r\n\t\t"films": {')
    expect(changed.replaceAll('\r\n', '')).not.toContain('\n')
    expect(parseJsonc(changed).value).toMatchObject({ mcpServers: { a: {}, films: {} }, other: [1] })
    expect(lstatSync(join(cwd, '.mcp.json')).isSymbolicLink()).toBe(true)
    expect(statSync(real).mode & 0o777).toBe(0o640)
    expect(readFileSync(JSON.parse(stdout).backup, 'utf8')).toBe(text)
    await run('--client', 'claude-code', '--undo', '--yes')
    expect(readFileSync(real, 'utf8')).toBe(text)
  })

  it('takes back only its entry if the file was changed since, and keeps the changes', async () => {
    await run('server.ts', '--client', 'claude-code', '--yes')
    const written = readFileSync(join(cwd, '.mcp.json'), 'utf8')
    const edited = written.replace(
      '"mcpServers": {',
      '"mine": true,\n  "mcpServers": {\n    // notes\n    "notes": { "command": "notes" },',
    )
    writeFileSync(join(cwd, '.mcp.json'), edited)
    const { code, stdout, stderr } = await run('--client', 'claude-code', '--undo', '--yes')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ isRestored: true, name: 'films' })
    expect(stderr).toContain('-   "films": {')
    expect(readFileSync(join(cwd, '.mcp.json'), 'utf8')).toBe(
      '{\n  "mine": true,\n  "mcpServers": {\n    // notes\n    "notes": { "command": "notes" }\n  }\n}\n',
    )
    expect(backups(cwd)).toEqual([])
  })

  it('brings back the entry that it replaced, and keeps later changes', async () => {
    writeFileSync(join(cwd, '.mcp.json'), '{"mcpServers":{"films":{"command":"old"}}}')
    await run('server.ts', '--client', 'claude-code', '--yes')
    const changed = { ...(readJson('.mcp.json') as object), mine: true }
    writeFileSync(join(cwd, '.mcp.json'), JSON.stringify(changed))
    expect((await run('--client', 'claude-code', '--undo', '--yes')).code).toBe(0)
    expect(readJson('.mcp.json')).toEqual({ mcpServers: { films: { command: 'old' } }, mine: true })
  })

  it.each([
    ['removed', () => ({ mine: true })],
    [
      'changed',
      ({ films }: Readonly<Record<string, object>>) => ({
        mcpServers: { films: { ...films, env: { A: 'b' } } },
      }),
    ],
  ])('leaves a file alone whose entry was %s since', async (_, edited) => {
    await run('server.ts', '--client', 'claude-code', '--yes')
    const { mcpServers } = readJson('.mcp.json') as Readonly<Record<string, Record<string, object>>>
    const text = JSON.stringify(edited(mcpServers!))
    writeFileSync(join(cwd, '.mcp.json'), text)
    const { code, stderr } = await run('--client', 'claude-code', '--undo', '--yes')
    expect(code).toBe(1)
    expect(stderr).toContain('does not have the entry as it was written')
    expect(readFileSync(join(cwd, '.mcp.json'), 'utf8')).toBe(text)
    expect(backups(cwd)).toHaveLength(1)
  })

  it.each([
    [['server.ts'], 2, 'the client is missing'],
    [['server.ts', '--client', 'cursr'], 2, 'did you mean "cursor"?'],
    [['missing.ts', '--client', 'cursor'], 2, 'there is no file missing.ts'],
    [['server.ts', '--client', 'cursor'], 2, 'Add --yes'],
    [
      ['server.ts', '--client', 'cursor', '--name', '__proto__', '--yes'],
      2,
      '"__proto__" is not a usable name',
    ],
    [['server.ts', '--client', 'cursor', '--name', 'a b', '--yes'], 2, 'letters, digits, -, _ and .,'],
    [['server.ts', '--client', 'cursor', '--undo', '--yes'], 2, '--undo takes the last entry back'],
    [['server.ts', '--client', 'windsurf', '--yes'], 1, 'Windsurf is not installed'],
    [['server.ts', '--client', 'claude-code', '--global'], 2, 'Leave --global out'],
    [['tcp://127.0.0.1:1', '--client', 'cursor', '--yes'], 2, 'only knows http'],
    [['--client', 'cursor', '--undo', '--yes'], 1, 'there is no backup'],
    [['server.ts', '--client', 'claude-code', '--yes'], 1, 'line 2, column 7: expected a value'],
    [['server.ts', '--client', 'vscode', '--yes'], 1, 'the servers are not an object'],
  ])('changes nothing for %j', async (args, code, text) => {
    writeFileSync(join(cwd, '.mcp.json'), args.includes('claude-code') ? '{\n "a": oops }' : '{}')
    mkdirSync(join(cwd, '.vscode'))
    writeFileSync(join(cwd, '.vscode', 'mcp.json'), args.includes('vscode') ? '{"servers":[]}' : '{}')
    const outcome = await run(...args)
    expect(outcome.stderr).toContain(text)
    expect(outcome.code).toBe(code)
    expect(readdirSync(cwd).toSorted()).toEqual(['.mcp.json', '.vscode', 'package.json', 'server.ts'])
  })

  it('names the clients that are on the machine', async () => {
    mkdirSync(dirname(appFile(CLIENT_APPS[0]!, { cwd, env: env() }, true) ?? ''), { recursive: true })
    expect((await run('server.ts')).stderr).toContain('Found on this machine: claude-desktop.')
  })

  it('knows the folders of each platform', () => {
    expect(userFolders({ HOME: '/Users/a' }, 'darwin').settings).toBe('/Users/a/Library/Application Support')
    const windows = { USERPROFILE: 'C:\\Users\\a', APPDATA: 'C:\\Users\\a\\AppData\\Roaming' }
    expect(userFolders(windows, 'win32')).toMatchObject({
      settings: 'C:\\Users\\a\\AppData\\Roaming',
      local: 'C:\\Users\\a\\AppData\\Local',
    })
    expect(userFolders({ HOME: 'relative' }, 'linux').settings).toBeUndefined()
  })
})

describe('a change of JSON with comments', () => {
  it.each([
    ['', '{\n  "s": {\n    "n": 1\n  }\n}\n'],
    ['{}', '{\n  "s": {\n    "n": 1\n  }\n}'],
    ['{"a":1}', '{"a":1,\n  "s": {\n    "n": 1\n  }\n}'],
    ['{"s":{}}', '{"s":{\n    "n": 1\n  }}'],
    ['{"s":{"n":0,"m":2}}', '{"s":{"n":1,"m":2}}'],
    ['{\n    "s": { /* x */ }\n}', '{\n    "s": { /* x */\n        "n": 1\n    }\n}'],
    ['{"s":{"x//y":"/*"} // end\n}', '{"s":{"x//y":"/*",\n    "n": 1\n  } // end\n}'],
    ['\uFEFF{"s":{"m":2 // two\n}}', '\uFEFF{"s":{"m":2, // two\n    "n": 1\n  }}'],
  ])('turns %j into %j', (before, after) => {
    expect(withMember(before, 's', 'n', 1)).toBe(after)
  })

  it.each([
    ['{\n  "s": {\n    "n": 1\n  }\n}\n', '{\n}\n'],
    ['{"a":1,\n  "s": {\n    "n": 1\n  }\n}', '{"a":1\n}'],
    ['{"s":{"n":1,"m":2}}', '{"s":{"m":2}}'],
    ['{"s":{"m":2,"n":1}}', '{"s":{"m":2}}'],
    ['{"s":{"m":2, // two\n    "n": 1\n  }}', '{"s":{"m":2 // two\n  }}'],
    ['{"s":{"m":2, // two\r\n    "n": 1, // one\r\n  }}', '{"s":{"m":2, // two\r\n     // one\r\n  }}'],
    ['\uFEFF{"s":{\n    /* , */ "n": {}, "m":2 }}', '\uFEFF{"s":{\n    /* , */ "m":2 }}'],
  ])('takes a member out of %j, which leaves %j', (before, after) => {
    expect(withoutMember(before, 's', 'n', false)).toBe(after)
  })

  it('keeps an empty section that was there before', () => {
    expect(withoutMember('{"s":{"n":1}}', 's', 'n', true)).toBe('{"s":{}}')
  })

  it.each(['[]', '{"s":1}', '{', '{"a" 1}', '{"a":1 "b":2}', '/*', '{"a":"x\ny"}', '{} x', '['.repeat(5000)])(
    'rejects %j with a line and a column',
    (text) => {
      expect(() => withMember(text, 's', 'n', 1)).toThrow(/line \d+, column \d+/)
    },
  )
})
