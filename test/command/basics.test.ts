import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer, type Running } from 'pierhead'
import { COMMANDS } from '../../src/cli/commands.ts'
import { line, spawnLine } from './line.ts'

let running: Running
let url = ''

beforeAll(async () => {
  const app = createServer({ name: 'sums', version: '1.0.0' })
  app.tool(
    'add',
    {
      description: 'Adds \u001b[31mtwo\u001b[0m numbers.\u202e',
      input: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
      },
    },
    ({ a, b }: { a: number; b: number }) => String(a + b),
  )
  running = await app.listen({ http: { port: 0 } })
  url = running.url ?? ''
})

afterAll(() => running.close())

describe('the package', () => {
  it("loads nothing of the command with import 'pierhead'", () => {
    // The loader names every file that it reads.
    const hooks = `export async function load(url, context, next) {
      process._rawDebug('loads ' + url)
      return next(url, context)
    }`
    const register = `import { register } from 'node:module'; register(${JSON.stringify(dataUrl(hooks))})`
    const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
    const loadedBy = (program: string): readonly string[] => {
      const args = ['--import', tsx, '--import', dataUrl(register), '--conditions=pierhead-source']
      const { stderr } = spawnSync(process.execPath, [...args, '--input-type=module', '--eval', program], {
        encoding: 'utf8',
      })
      return [...stderr.matchAll(/^loads (\S+)$/gm)].map(([, url = '']) => url)
    }
    const isCommand = (url: string): boolean => /[/](?:cli[/]|commander|@clack|picocolors)/.test(url)
    const imported = loadedBy("import 'pierhead'; import 'pierhead/client'")
    expect(imported.filter((url) => url.includes('/src/')).length).toBeGreaterThan(10)
    expect(imported.filter(isCommand)).toEqual([])
    expect(loadedBy("import './src/cli/commands.ts'").filter(isCommand)).not.toEqual([])
  })
})

function dataUrl(script: string): string {
  return `data:text/javascript,${encodeURIComponent(script)}`
}

describe('the command', () => {
  it('lists its commands, and each has help with an example', async () => {
    const all = await line(['--help'])
    expect(all.code).toBe(0)
    for (const { name, summary } of COMMANDS) {
      expect(all.stdout).toContain(name.split(' ')[0])
      const help = await line([...name.split(' '), '--help'])
      expect(help.code).toBe(0)
      expect(help.stdout.toLowerCase()).toContain(summary.toLowerCase())
      expect(help.stdout).toContain(`pierhead ${name}`)
    }
  })

  it.each([40, 60, 80])(
    'breaks the lines of its help between words in a terminal of %i columns',
    async (columns) => {
      for (const args of [[], ['call'], ['create'], ['tasks'], ['auth', 'login']]) {
        const { stdout } = await line([...args, '--help'], { terminal: true, columns })
        // A command of an example stays whole, to be copied.
        const lines = stdout.split('\n').filter((text) => !text.startsWith('  pierhead '))
        expect(lines.filter((text) => text.length > columns)).toEqual([])
        expect(stdout).toContain('show this help')
      }
    },
  )

  it.each([
    [['lsit'], 'did you mean "list"?'],
    [['list', '--jsn'], 'did you mean "--json"?'],
    [['list', 'no-such-server'], '"no-such-server" is not a target'],

    [['ping', 'http://localhost:1/mcp', 'more'], 'unexpected argument'],
    [['info', '--env', 'A=1', 'http://localhost:1/mcp'], '--env sets variables of a program'],
    [['info', '--header', 'nocolon', 'http://localhost:1/mcp'], "'Name: value'"],
    [['info', 'missing.ts'], 'there is no file missing.ts'],
  ])('says what is wrong with %j, and what to do', async (args, text) => {
    const { code, stdout, stderr } = await line(args)
    expect(code).toBe(2)
    expect(JSON.parse(stdout).error.message).toContain(text)
    expect(stderr).toContain(text)
    expect(stderr).toContain('fix: ')
  })

  it('prints for people on a terminal and JSON into a pipe, and nothing of the server raw', async () => {
    const shown = await line(['list', url], { terminal: true })
    expect(shown.stdout).toContain('add(a: number, b: number)')
    expect(shown.stdout).toContain('Adds \\u001b[31mtwo')
    const piped = await line(['list', url, 'tools'])
    expect(JSON.parse(piped.stdout).tools[0].description).toBe('Adds \u001b[31mtwo\u001b[0m numbers.\u202e')
    // oxlint-disable-next-line no-control-regex
    for (const { stdout } of [shown, piped]) expect(stdout).not.toMatch(/[\u001b\u202e]/)
  })

  it('shows what a server says of itself, and how fast it answers', async () => {
    const { stdout } = await line(['info', url])
    expect(JSON.parse(stdout)).toMatchObject({ revision: '2026-07-28', server: { name: 'sums' } })
    const ping = await line(['ping', url, '--count', '3'], { terminal: true })
    expect(ping.stdout.match(/answered in/g)).toHaveLength(3)
  })

  it('ends with its own exit code for a target that cannot be reached', async () => {
    const { code, stderr } = await line(['info', 'http://127.0.0.1:1/mcp', '--timeout', '2s'])
    expect(code).toBe(4)
    expect(stderr).toContain('error: ')
  })

  it('runs as a program, and never shows the secrets of a URL', async () => {
    const { code, stderr } = await spawnLine([
      'info',
      'http://user:hush@127.0.0.1:1/mcp?key=hush',
      '--timeout',
      '2s',
    ])
    expect(code).not.toBe(0)
    expect(stderr).not.toContain('hush')
  })
})
