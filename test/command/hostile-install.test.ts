import { createHash } from 'node:crypto'
import {
  existsSync,
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
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { redactedUrl } from '../../src/cli/redaction.ts'
import { line, type Outcome } from './line.ts'

let [home, cwd] = ['', '']

beforeEach(() => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pierhead-hostile-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  home = join(folder, 'home')
  cwd = join(folder, 'project')
  mkdirSync(home)
  mkdirSync(cwd)
})

function run(...args: string[]): Promise<Outcome> {
  return line(args, { cwd, env: { HOME: home, USERPROFILE: home, XDG_CONFIG_HOME: join(home, '.config') } })
}

describe('install into the project of a stranger', () => {
  const add = (client: string): Promise<Outcome> =>
    run('install', '--client', client, '--yes', '--name', 'a', '--', 'npx', 'evil')

  it('does not write through a link out of the project, and says where it leads', async () => {
    const other = join(home, 'settings.json')
    writeFileSync(other, '{"mcpServers":{}}')
    symlinkSync(other, join(cwd, '.mcp.json'))
    const { code, stderr } = await add('claude-code')
    expect(code).toBe(1)
    expect(stderr).toContain(`leads out of the project, to ${other}`)
    expect(readFileSync(other, 'utf8')).toBe('{"mcpServers":{}}')
    expect(readdirSync(home)).toEqual(['settings.json'])
  })

  it('does not write through a link to a folder', async () => {
    mkdirSync(join(home, '.cursor'))
    symlinkSync(join(home, '.cursor'), join(cwd, '.cursor'))
    const { code, stderr } = await add('cursor')
    expect(code).toBe(1)
    expect(stderr).toContain(join(home, '.cursor', 'mcp.json'))
    expect(readdirSync(join(home, '.cursor'))).toEqual([])
  })

  it.each(['../home/created.json', 'created.json'])('does not create the target %s of a link', async (to) => {
    symlinkSync(to, join(cwd, '.mcp.json'))
    const { code, stderr } = await add('claude-code')
    expect(code).toBe(1)
    expect(stderr).toContain('which does not exist')
    expect(existsSync(join(cwd, to))).toBe(false)
  })

  it('does not create a folder through a link that leads nowhere', async () => {
    symlinkSync(join(home, 'created'), join(cwd, '.cursor'))
    const { code, stderr } = await add('cursor')
    expect(code).toBe(1)
    expect(stderr).toContain('leads nowhere')
    expect(readdirSync(home)).toEqual([])
  })

  it('follows a link inside the project, and shows where it leads', async () => {
    writeFileSync(join(cwd, 'real.json'), '{}')
    symlinkSync('real.json', join(cwd, '.mcp.json'))
    const { code, stderr } = await add('claude-code')
    expect(code).toBe(0)
    expect(stderr).toContain('.mcp.json (a link to real.json)')
    expect(readFileSync(join(cwd, 'real.json'), 'utf8')).toContain('evil')
  })

  it('does not take a link for a backup', async () => {
    const key = join(home, 'id')
    writeFileSync(key, 'PRIVATE', { mode: 0o600 })
    writeFileSync(join(cwd, '.mcp.json'), '{}')
    const digest = createHash('sha256').update('{}').digest('hex').slice(0, 12)
    symlinkSync(key, join(cwd, `.mcp.json.before-pierhead-${digest}-${digest}`))
    const { code, stderr } = await run('install', '--client', 'claude-code', '--undo', '--yes')
    expect(code).toBe(1)
    expect(stderr).toContain('there is no backup')
    expect(readFileSync(join(cwd, '.mcp.json'), 'utf8')).toBe('{}')
    expect(readFileSync(key, 'utf8')).toBe('PRIVATE')
  })

  it.each([
    [['--env', 'TOKEN=hush', '--', 'npx', 'srv'], 0o600],
    [['https://x.example/mcp', '--header', 'Authorization: Bearer hush'], 0o600],
    [['--env', 'TOKEN', '--', 'npx', 'srv'], 0o644],
    [['https://x.example/mcp'], 0o644],
  ])('creates the file for %j with the mode %o, and warns of secrets', async (words, mode) => {
    const { code, stderr } = await run('install', '--client', 'claude-code', '--yes', ...words)
    expect(code).toBe(0)
    expect(statSync(join(cwd, '.mcp.json')).mode & 0o777).toBe(mode)
    expect(stderr.includes('do not commit it')).toBe(mode === 0o600)
    expect(stderr).not.toContain('hush')
  })
})

describe('secrets in what install and doctor show', () => {
  it.each([
    ['--header', 'Authorization: Bearer SECRET'],
    ['-H', 'X-Api-Key: SECRET'],
    ['-HX-Api-Key: SECRET'],
    ['--header=X-Other: SECRET'],
    ['API_KEY:SECRET'],
    ['Authorization:Bearer SECRET'],
    ['--config={"apiKey":"SECRET"}'],
    ['--config={"a":[{"headers":{"x":"SECRET"}}]}'],
    ['--config', '{"url":"https://h/?a=SECRET"}'],
    ['--config={apiKey:SECRET}'],
    ['-e', 'PAT=SECRET'],
    ['--token', 'SECRET'],
    ['--token=SECRET'],
    ['--url=https://u:SECRET@h/mcp'],
    ['https://h/mcp#access_token=SECRET'],
    ['https://u:p@SECRET@h/mcp'],
    ['postgres://u:p/SECRET@h/db'],
    ['Bearer SECRET'],
    ['sk-SECRET12345678'],
  ])('are not in the arguments %j', async (...args) => {
    const printed = await run('install', '--client', 'cursor', '--print', '--', 'npx', 'mcp-remote', ...args)
    expect(printed.code).toBe(0)
    expect(printed.stdout).toContain('mcp-remote')
    const added = await run('install', '--client', 'cursor', '--yes', '--', 'npx', 'mcp-remote', ...args)
    expect(added.code).toBe(0)
    // As one text, as people write it by mistake.
    const config = join(cwd, 'm.json')
    writeFileSync(
      config,
      JSON.stringify({ mcpServers: { a: { command: `no-such-program ${args.join(' ')}` } } }),
    )
    const checked = await run('doctor', '--config', config)
    expect(checked.stdout).toContain('no-such-program')
    for (const { stdout, stderr } of [printed, added, checked])
      expect(stdout + stderr).not.toContain('SECRET')
  })

  it.each(['https://h/mcp?x=SECRET#access_token=SECRET', 'https://u:p@SECRET@h/mcp', 'https://h/mcp?SECRET'])(
    'are not in the URL %s',
    async (url) => {
      const { code, stdout, stderr } = await run('install', url, '--client', 'cursor', '--print')
      expect(code).toBe(0)
      expect(stdout + stderr).not.toContain('SECRET')
    },
  )

  it.each([
    '{"mcpServers":{"a":{"headers":{"Authorization": SECRET-unquoted}}}}',
    '{"mcpServers":{"a":{"headers":{"Authorization": "SECRET}}}}',
    '{"mcpServers":{"a":{"env":{"SECRET"}}}}',
    "{'SECRET': 1}",
  ])('are not in the error for %s', async (text) => {
    writeFileSync(join(cwd, 'm.json'), text)
    const checked = await run('doctor', '--config', 'm.json')
    const used = await run('list', 'a', '--config', 'm.json')
    expect(checked.stdout).toContain('is not valid JSON: line 1')
    expect(used.stderr).toContain('is not valid JSON: line 1')
    for (const { stdout, stderr } of [checked, used]) expect(stdout + stderr).not.toContain('SECRET')
  })

  it('are hidden in linear time', () => {
    for (const text of ['?', '&', '@', '#', '//', 'a=', '?a', ':', '/?@'])
      expect(redactedUrl(`https://h/${text.repeat(1_000_000)}`)).toContain('https://')
  })
})
