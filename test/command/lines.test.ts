import { readFileSync } from 'node:fs'
import { createServer } from 'pierhead'
import { describe, expect, it, onTestFinished } from 'vitest'
import { line } from './line.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }

it.each(['auth', 'tasks', 'keys'])('shows the commands of %s under a heading of their own', async (name) => {
  const { stdout } = await line([name, '--help'])
  expect(stdout).toMatch(/^Commands:$/m)
  expect(stdout).toMatch(/\n\n(Logins|Long-running work|Key pairs)[^\n]*\.\n/)
  expect(stdout).not.toMatch(/^(Set up|Use a server):$/m)
})

it('prints times in whole microseconds', async () => {
  const server = createServer({ name: 'quick', version: '1' })
  const running = await server.listen({ http: { port: 0 } })
  onTestFinished(() => running.close())
  const { stdout } = await line(['ping', running.url as string, '--count', '3'])
  const { connectMs, times } = JSON.parse(stdout) as { readonly connectMs: number; readonly times: number[] }
  expect(times).toHaveLength(3)
  for (const ms of [connectMs, ...times]) expect(String(ms)).toMatch(/^\d+(\.\d{1,3})?$/)
})

describe('help', () => {
  it.each([
    [['tasks'], 'Usage: pierhead tasks '],
    [['keys'], 'Usage: pierhead keys '],
    [['help', 'tasks'], 'Usage: pierhead tasks '],
    [['help', 'tasks', 'list'], 'Usage: pierhead tasks list '],
    [['tasks', 'help', 'list'], 'Usage: pierhead tasks list '],
    [['help', 'call'], 'Usage: pierhead call '],
    [['help'], 'Usage: pierhead <command>'],
    [[], 'Usage: pierhead <command>'],
    [['-q'], 'Usage: pierhead <command>'],
  ])('of %j is its own', async (args, text) => {
    const { code, stdout } = await line(args)
    expect(stdout).toContain(text)
    expect(code).toBe(0)
  })

  it.each([
    [['help', 'tsk'], 'there is no command "tsk"'],
    [['help', 'tasks', 'lst'], 'did you mean "tasks list"?'],
    [['lsit', '--help'], 'did you mean "list"?'],
  ])('of %j, which does not exist, is an error', async (args, text) => {
    const { code, stderr } = await line(args)
    expect(stderr).toContain(text)
    expect(code).toBe(2)
  })
})

describe('the version', () => {
  it.each([[['--version', '--no-color']], [['list', '--version']], [['-q', '--version']], [['-V', '-q']]])(
    'is printed for %j',
    async (args) => {
      expect(await line(args)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
    },
  )

  it('is printed as JSON', async () => {
    const { stdout } = await line(['--version', '--json'])
    expect(JSON.parse(stdout)).toEqual({ version })
  })
})

describe('what is wrong with a line', () => {
  it.each([
    [['tasks', 'lst'], 'there is no command "tasks lst"; did you mean "tasks list"?'],
    [['taks', 'list'], 'did you mean "tasks list"?'],
    [['call', 'x', '--input-json', '{}'], `unknown option '--input-json'; did you mean "--input"?`],
    [['info', 'x', '--pin', '2025-11-25'], 'did you mean "--revision"?'],
    [['info', 'x', '--legacy'], 'did you mean "--revision"?'],
    [['create', 'x', '--pin'], "unknown option '--pin'\n"],
    [['create', 'x', '--serve'], "unknown option '--serve'\n"],
    [['add', 'tool', '-JG'], 'If it is not an option, write it after --: pierhead add -- KIND\n'],
    [['tasks', 'show', 'x', '-JG'], 'write it after --: pierhead tasks show --server TARGET -- ID\n'],
    [['list', '-JG'], 'pierhead list --help shows what is possible.\n'],
    [['keys', 'create', 'no/k.pem', '--', 'junk'], 'unexpected argument "junk"'],
    [['auth', 'status', '--', 'junk'], '"junk" is not a target'],
    [['add', '--', 'tool', '-x'], '"-x" is not a name'],
    [['call', '--server', 'http://127.0.0.1:1/mcp', 'x', '--', 'node'], 'two targets'],
    [['call', '--serve', 'x'], 'did you mean "--server"?'],
    [['--jsno', 'list'], 'did you mean "--json"?'],
    [['run', 'x.ts', '--json'], "unknown option '--json'"],
    [['completion', 'bash', '--no-json'], "unknown option '--no-json'"],
    [['validate', 'x.ts', '--revision', '2025-11-25'], 'did you mean "--target"?'],
    [['validate', 'x.ts', '--protocol-version', '2025-11-25'], 'did you mean "--target"?'],
    [['list', 'http://127.0.0.1:1/mcp', 'tols'], '"tols" is not a kind; did you mean "tools"?'],
    [['completion', 'bsh'], 'did you mean "bash"?'],
    [['ping', 'http://localhost:1/mcp', 'more'], 'unexpected argument "more"'],
    [['ping', 'http://localhost:1/mcp', '--count', 'abc'], '--count must be a whole number from 1 to 1000'],
    [['ping', 'http://localhost:1/mcp', '--count', '0'], '--count must be a whole number from 1 to 1000'],
    [['watch', 'http://localhost:1/mcp', '--count', '1.5'], '--count must be a whole number'],
    [['tasks', 'list', 'http://localhost:1/mcp', '--limit', 'many'], '--limit must be a whole number'],
    [['info', '-s', 'http://localhost:1/a', '--server-url', 'http://localhost:1/b'], 'two targets'],
    [['info', '--timeout', 'soon', 'http://localhost:1/a'], '--timeout: "soon" is not a time'],
    [['info', '--total', '5', 'http://localhost:1/a'], '--total: "5" is not a time'],
    [['auth', 'logout', '--timeout', 'soon', 'http://localhost:1/a'], '--timeout: "soon" is not a time'],
    [['info', '--revision', '1', 'http://localhost:1/a'], '2025-11-25, 2026-07-28'],
    [['info', '--framing', 'x', 'tcp://localhost:1'], 'lines, length-prefix'],
    [['watch', '--log', 'foo', 'http://localhost:1/a'], 'debug, info'],
    [['info', '--header', 'X Y: z', 'http://localhost:1/a'], 'the name of a header has characters'],
    [['run', 'package.json', '--stdio', '--workers', '2'], '--workers is for HTTP alone'],
    [['run', '/tmp'], '/tmp is a folder'],
    [['list', '--'], 'the program after -- is empty'],
    [['doctor', '--'], 'the program after -- is empty'],
    [['info', 'http://bob:pw@localhost:1/a'], 'the URL has a user and a password'],
    [['auth', 'login', 'xx'], 'Name a URL, such as https://mcp.example/mcp, or a server of an mcp.json file'],
    [['info', '--header', 'A: b', 'tcp://localhost:1'], '--header applies only to'],
    [['info', '--framing', 'lines', 'http://localhost:1/a'], '--framing applies only to'],
    [['info', '--inherit', 'all', 'http://localhost:1/a'], '--inherit applies only to'],
    [['test', 'http://localhost:1/a', '--all'], '--all is only for --generate'],
    [['doctor', '--timeout', 'soon', 'http://localhost:1/a'], '--timeout: "soon" is not a time'],
    [['doctor', '--header', 'nocolon', 'http://localhost:1/a'], "'Name: value'"],
  ])('is said for %j', async (args, text) => {
    const { code, stderr } = await line(args, { env: { HOME: '/nonexistent' } })
    expect(stderr).toContain(text)
    expect(stderr).not.toMatch(/(?:connect|listen) \w+:|setLogLevel|docs\/reference/)
    expect(stderr).toContain('fix: ')
    expect(code).toBe(2)
  })

  it('is not an option of every command before the command', async () => {
    const { code, stderr } = await line(['-q', 'info', 'http://127.0.0.1:1/mcp'])
    expect(stderr).toContain('cannot connect')
    expect(code).toBe(4)
  })

  it('is said of a port that fetch blocks', async () => {
    const { code, stderr } = await line(['info', 'http://127.0.0.1:1/mcp'])
    expect(stderr).toContain('blocks port 1\nfix: Let the server listen on another port.')
    expect(code).toBe(4)
  })

  it('is printed as JSON for programs, and as nothing else on stdout', async () => {
    const { code, stdout, stderr } = await line(['lsit'])
    expect(JSON.parse(stdout)).toEqual({
      error: {
        message: 'there is no command "lsit"; did you mean "list"?',
        hint: expect.any(String),
        exit: 2,
      },
    })
    expect(stderr).toContain('error: there is no command')
    expect(code).toBe(2)
    const far = await line(['info', 'http://127.0.0.1:1/mcp', '--json'], { terminal: true })
    expect(JSON.parse(far.stdout)).toMatchObject({ error: { exit: 4 } })
  })

  it.each([
    [['lsit'], true],
    [['lsit', '--no-json'], false],

    // Their stdout carries the protocol, or a script.
    [['run', 'missing.ts', '--stdio'], false],
    [['run', '--prot', '1'], false],
    [['dev', 'missing.ts', '--stdio'], false],
    [['completion', 'bsh'], false],
  ])('is not on stdout for people and where stdout is for something else: %j', async (args, terminal) => {
    const { code, stdout } = await line(args, { terminal })
    expect(stdout).toBe('')
    expect(code).toBe(2)
  })
})
