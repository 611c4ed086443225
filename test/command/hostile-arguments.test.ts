import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { line, spawnLine, type Outcome } from './line.ts'
import { plainServer, shownIn } from './plain-server.ts'

let folder = ''
let program: readonly string[] = []

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'pierhead-arguments-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  program = ['--', process.execPath, plainServer(folder)]
})

const run = (...args: readonly string[]): Promise<Outcome> =>
  spawnLine(args, { cwd: folder, env: { HOME: folder, SECRET_NAME: 'expanded' } })

describe('words of the command line', () => {
  it('after -- are a program and its arguments, whatever they look like [P.command-arguments]', async () => {
    const words = ['--help', '--version', '--', '--server', 'http://127.0.0.1:1', '-h']
    const shown = shownIn(await run('call', 'show', ...program, ...words))
    expect(shown.argv).toEqual(words)
    const { code, stdout, stderr } = await run('list', '--', '--version')
    expect({ code, stdout }).toMatchObject({ code: 4 })
    expect(stderr).toContain('--version')
    const two = await run('list', '--server', 'http://127.0.0.1:1', ...program)
    expect(two.code).toBe(2)
    expect(two.stderr).toContain('two targets')
  })

  it('that name a pipe are read to its end, and devices are refused [P.command-arguments]', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')])
    const called = run('call', 'show', 'text=@pipe', ...program)
    await writeFile(join(folder, 'pipe'), 'from a pipe')
    expect(shownIn(await called).given).toEqual({ text: 'from a pipe' })
    for (const device of ['/dev/zero', '/dev', '/dev/tty']) {
      const { code, stderr } = await run('call', 'show', `text=@${device}`, ...program)
      expect(code).toBe(2)
      expect(stderr).toContain(`${device} cannot be read: it is not a file`)
    }
  })

  it('that name a pipe to which nobody writes do not keep Ctrl-C from ending the command [P.command-arguments]', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')])
    const controller = new AbortController()
    const ending = line(['call', 'show', 'text=@pipe', ...program], {
      cwd: folder,
      signal: controller.signal,
    })
    // Opens when the command has opened it too.
    const writer = await open(join(folder, 'pipe'), 'w')
    controller.abort()
    expect((await ending).code).toBe(130)
    await writer.close()
  })

  it('that begin with a dash are no URLs [P.command-arguments]', async () => {
    for (const words of [
      ['-http://127.0.0.1:1/'],
      ['--http://127.0.0.1:1/'],
      ['--server', '-http://127.0.0.1:1/'],
    ]) {
      const { code, stderr } = await run('list', ...words)
      expect(code).toBe(2)
      expect(stderr).toMatch(/unknown option|is not a target|missing/)
    }
    writeFileSync(join(folder, 'mcp.json'), '{"mcpServers":{"a":{"url":"-http://127.0.0.1:1/"}}}')
    const { code } = await run('list', 'a')
    expect([2, 4]).toContain(code)
  })

  it('are data: variables, patterns and commands in them are not expanded [P.command-arguments]', async () => {
    const texts = [
      '$SECRET_NAME',
      '${SECRET_NAME}',
      '%SECRET_NAME%',
      '$(id)',
      '`id`',
      '~',
      '*',
      '{a,b}',
      '\\n',
      '!!',
    ]
    for (const text of [texts.join(' '), '${SECRET_NAME}'])
      expect(shownIn(await run('call', 'show', `text=${text}`, ...program)).given).toEqual({ text })
    const shown = shownIn(await run('call', 'show', ...program, ...texts))
    expect(shown.argv).toEqual(texts)
  })

  it('name files whose text is not read as words again [P.command-arguments]', async () => {
    writeFileSync(join(folder, 'loop.txt'), '@loop.txt')
    writeFileSync(join(folder, 'loop.json'), '{"text":"@loop.json"}')
    const cases = [
      [['text=@loop.txt'], '@loop.txt'],
      [['@loop.json'], '@loop.json'],
      [['--input', '{"text":"@loop.txt"}'], '@loop.txt'],
      [['text=\\@loop.txt'], '@loop.txt'],
    ] as const
    for (const [words, text] of cases)
      expect(shownIn(await run('call', 'show', ...words, ...program)).given).toEqual({ text })
    const shown = shownIn(await run('call', 'show', ...program, '@loop.txt'))
    expect(shown.argv).toEqual(['@loop.txt'])
    // The command itself has no files with options.
    expect((await run('@loop.txt')).code).toBe(2)
  })
})

describe('secrets on the command line', () => {
  const URLS = [
    'http://user:HUSH@127.0.0.1:1/mcp',
    'http://user:p@HUSH@127.0.0.1:1/mcp',
    'http://127.0.0.1:1/mcp?token=HUSH&x=HUSH#HUSH',
    'http://HUSH@127.0.0.1:1/',
    'http://user:HUSH@:99999/',
    'ws://user:HUSH@127.0.0.1:1/mcp?key=HUSH',
    'tcp://user:HUSH@127.0.0.1:1?key=HUSH',
  ]

  it.each([['list'], ['doctor'], ['install', '--client', 'cursor', '--print']])(
    'are not printed again by %s, not even with --verbose [P.command-arguments]',
    async (...words) => {
      for (const url of URLS) {
        const { stdout, stderr } = await run(...words, url, ...(words[0] === 'install' ? [] : ['--verbose']))
        expect(stdout + stderr).not.toBe('')
        expect(stdout + stderr).not.toContain('HUSH')
      }
    },
    60_000,
  )

  it('are not printed if they are headers, variables, tokens or arguments [P.command-arguments]', async () => {
    const options = ['--header', 'Authorization: Bearer HUSH', '--verbose']
    const outcomes = [
      await run('list', 'http://127.0.0.1:1/mcp', ...options),
      await run('list', '--env', 'TOKEN=HUSH', '--', 'no-such-program', '--token', 'HUSH'),
      await run('list', '--header', 'HUSH', 'http://127.0.0.1:1/mcp'),
      await run('call', 'show', '--input', '{"password": HUSH', ...program),
      await run('call', 'show', 'text:={"password": HUSH', ...program),
      await run('doctor', '--', 'no-such-program --token HUSH'),
      await spawnLine(['list', 'http://127.0.0.1:1/mcp'], { cwd: folder, env: { PIERHEAD_TOKEN: 'HUSH' } }),
    ]
    for (const { code, stdout, stderr } of outcomes) {
      expect(code).not.toBe(0)
      expect(stdout + stderr).not.toContain('HUSH')
    }
  }, 60_000)
})
