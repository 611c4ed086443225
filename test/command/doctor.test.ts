import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { createServer, type App } from 'pierhead'
import { devAuth } from 'pierhead/auth/dev'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { checkNode } from '../../src/cli/check-project.ts'
import { Findings, type Finding } from '../../src/cli/finding.ts'
import { lintTools } from '../../src/cli/tool-lint.ts'
import { line, spawnLine, type LineOptions } from './line.ts'

let cwd = ''

beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'pierhead-doctor-')))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
})

function write(file: string, text: string): string {
  const path = join(cwd, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

interface Report {
  readonly code: number
  readonly findings: readonly Finding[]
  /** The problems with their fixes. */
  readonly problems: string
  readonly all: string
}

async function examine(args: readonly string[], options: LineOptions = {}): Promise<Report> {
  const { code, stdout, stderr } = await line(['doctor', ...args], {
    cwd,
    ...options,
    env: { HOME: cwd, ...options.env },
  })
  return reportOf(code, stdout, stderr)
}

function reportOf(code: number, stdout: string, stderr: string): Report {
  expect(stderr).toBe('')
  const { isOk, findings } = JSON.parse(stdout) as {
    readonly isOk: boolean
    readonly findings: readonly Finding[]
  }
  expect(isOk).toBe(code === 0)
  const textOf = (list: readonly Finding[]): string =>
    list.map(({ text, fix }) => `${text} | ${fix}`).join('\n')
  return {
    code,
    findings,
    problems: textOf(findings.filter(({ level }) => level === 'problem')),
    all: textOf(findings),
  }
}

async function serve(app: App): Promise<string> {
  const { url = '' } = await app.listen({ http: { port: 0 } })
  onTestFinished(() => app.close())
  return url
}

/** A web server that is not an MCP server; its URL ends without a slash. */
async function site(listener: RequestListener): Promise<string> {
  const server = createHttpServer(listener)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const quiet = { name: 'sums', version: '1.0.0', log: () => undefined } as const

/** A server over stdio that does something before it serves. */
function program(before: string): readonly string[] {
  const file = write(
    'program.mjs',
    `${before}
import { createInterface } from 'node:readline'
createInterface({ input: process.stdin }).on('line', (text) => {
  const { id, method } = JSON.parse(text)
  if (id === undefined) return
  const result = method === 'initialize'
    ? { protocolVersion: '2025-03-26', capabilities: {}, serverInfo: { name: 'old', version: '1' } }
    : undefined
  const error = { code: -32601, message: 'no' }
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }))
})`,
  )
  return ['--', process.execPath, file]
}

/** What is to improve if everything is right and these tests run on Node 20. */
const ABOUT_NODE = /^v2[01]\./.test(process.version)
  ? [`Node ${process.version} works, and no longer gets security fixes`]
  : []

describe('doctor of a URL', () => {
  it('finds nothing wrong with a good server, for people and as JSON', async () => {
    const app = createServer(quiet)
    app.tool('add', { description: 'Adds two numbers and returns the sum.' }, () => '3')
    const url = await serve(app)
    const { code, findings } = await examine([url])
    expect(code).toBe(0)
    expect(findings.filter(({ level }) => level !== 'ok').map(({ text }) => text)).toEqual(ABOUT_NODE)
    const shown = await line(['doctor', url], { terminal: true, cwd, env: { HOME: cwd } })
    expect(shown.stdout).toContain('✓ connected to sums 1.0.0')
    expect(shown.stdout).toContain(
      ABOUT_NODE.length === 0 ? 'Nothing is wrong.' : 'Nothing is wrong, 1 to improve.',
    )
  })

  it('shows on a terminal what it waits for', async () => {
    const app = createServer(quiet)
    app.tool('add', {}, () => '3')
    const url = await serve(app)
    const { stderr } = await line(['doctor', url], { terminal: true, cwd, env: { HOME: cwd } })
    for (const step of ['connecting to', 'waiting for an answer over HTTP', 'reading the list of tools'])
      expect(stderr).toContain(step)
  })

  it('says where the server is if the path is wrong', async () => {
    const url = await serve(createServer(quiet))
    const { code, problems } = await examine([url.replace('/mcp', '/nothing')])
    expect(code).toBe(8)
    expect(problems).toContain('nothing is served at /nothing (404)')
    expect(problems).toContain(`Use ${url}.`)
  })

  it('follows the metadata of a server that wants a login to its issuer, and says how to log in', async () => {
    const dev = await devAuth({ port: 0, scopes: ['notes:read'] })
    onTestFinished(() => dev.close())
    const url = await serve(createServer({ ...quiet, auth: dev }))
    const { code, all, problems } = await examine([url])
    expect(code).toBe(8)
    expect(all).toContain('metadata of the server: ')
    expect(all).toContain('issuer: ')
    expect(all).toContain('login page: ')
    expect(problems).toContain(`pierhead auth login ${url}`)
    const token = await dev.token({ sub: 'ann', resource: url })
    const known = await examine([url], { env: { PIERHEAD_TOKEN: token } })
    expect(known).toMatchObject({ code: 0, problems: '' })
  })

  it.each<[string, RequestListener, string, string]>([
    [
      'a web page',
      (_, reply) => void reply.setHeader('content-type', 'text/html').end('<p>'),
      'a web page',
      '/mcp',
    ],
    [
      'a redirect',
      (_, reply) => void reply.writeHead(302, { location: 'https://u:hush@b.example/?k=hush' }).end(),
      'redirects to https://***@b.example/?k=***',
      'Use that URL',
    ],
    [
      'a refused Host',
      (_, reply) => void reply.writeHead(403).end('the Host "x" is not served here'),
      'refuses the request (403)',
      'hosts',
    ],
    [
      'a refused Origin',
      (_, reply) => void reply.writeHead(403).end('the Origin is not allowed'),
      'refuses the request (403)',
      'cors',
    ],
    ['an error', (_, reply) => void reply.writeHead(502).end('\u001b[31m'), 'status 502', 'log'],
    [
      'no metadata',
      (_, reply) => void reply.writeHead(401).end(),
      'its metadata cannot be read',
      'PIERHEAD_TOKEN',
    ],
    [
      'a path that exists nowhere',
      (_, reply) => void reply.writeHead(404).end(),
      'nothing is served at /x',
      'The path is wrong',
    ],
    [
      'an end of the connection',
      ({ socket }) => void socket.destroy(),
      'does not answer over HTTP',
      'https://',
    ],
  ])('explains %s', async (_, listener, text, fix) => {
    const { code, problems } = await examine([`${await site(listener)}/x`, '--timeout', '5s'])
    expect(code).toBe(8)
    expect(problems).toContain(text)
    expect(problems).toContain(fix)
    expect(problems).not.toContain('hush')
  })

  it('does not let a server choose what is asked in the network', async () => {
    const asked: string[] = []
    const other = await site((request, reply) => {
      asked.push(request.url ?? '')
      reply.end('{}')
    })
    const url = await site((request, reply) => {
      if (request.url === '/meta')
        reply.end(
          JSON.stringify({ resource: `${url}/x`, authorization_servers: ['https://169.254.169.254/'] }),
        )
      else
        reply
          .writeHead(401, {
            'www-authenticate': `Bearer resource_metadata="${request.url === '/y' ? `${other}/meta` : `${url}/meta`}"`,
          })
          .end()
    })
    expect((await examine([`${url}/x`])).problems).toContain(
      'the issuer https://169.254.169.254/ cannot be asked: it is in a network that the server must not name',
    )
    expect((await examine([`${url}/y`])).problems).toContain('not on the origin of the server')
    expect(asked).toEqual([])
  })

  it('explains a port where nothing listens, a name that does not exist, and TLS where there is none', async () => {
    const refused = await examine(['http://127.0.0.1:1/mcp'], { env: { HTTPS_PROXY: 'http://u:hush@p:1' } })
    expect(refused.code).toBe(8)
    expect(refused.problems).toContain('nothing listens at 127.0.0.1:1')
    expect(refused.problems).toContain('HTTPS_PROXY is set')
    expect(refused.problems).not.toContain('hush')
    expect((await examine(['https://no-such-host.invalid/mcp'])).problems).toContain('cannot be resolved')
    const plain = await site((_, reply) => void reply.end())
    expect((await examine([plain.replace('http', 'https')])).problems).toContain('TLS fails')
    expect((await examine(['unix:/no/such/socket'])).problems).toContain('is not a socket')
    expect((await examine(['tcp://127.0.0.1:1'])).problems).toContain('nothing listens')
  })
})

it.each(['', "console.log('starting')"])(
  'of a program that does not answer has a fix that fits: %s',
  async (text) => {
    const file = write('silent.mjs', `${text}\nprocess.stdin.resume()\n`)
    const { code, findings } = await examine(['--timeout', '2s', '--', process.execPath, file])
    expect(code).toBe(8)
    const { fix } = findings.find((one) => one.text.includes('was not answered')) ?? {}
    expect(fix).toContain('MCP server on stdio')
    expect(fix).toContain('--timeout')
  },
)

describe('doctor of a program', () => {
  it('finds text on stdout, and an old revision', async () => {
    const { code, problems, all } = await examine(program(`console.log('Starting up …')`))
    expect(code).toBe(8)
    expect(problems).toContain('Starting up')
    expect(problems).toContain('console.error')
    expect(all).toContain('only knows revision 2025-03-26')
  })

  it.each([
    ['process.exit(3)', 'exited with code 3', 'Run the command in a terminal'],
    [`throw new Error('no \\u001b[31m database')`, 'database', 'Correct what the program says'],
    [`import 'no-such-package'`, 'no-such-package', 'npm install no-such-package'],
  ])('shows why %j ends', async (before, text, fix) => {
    const { code, problems } = await examine(program(before))
    expect(code).toBe(8)
    expect(problems).toContain(text)
    expect(problems).toMatch(new RegExp(`\\| ${fix}`))
  })

  it('finds programs that do not exist or cannot be run', async () => {
    const file = write('tool', '#!/bin/sh\n')
    chmodSync(file, 0o644)
    expect((await examine(['--', 'no-such-program'])).problems).toContain(
      'no program no-such-program on the PATH',
    )
    expect((await examine(['--', './tool'])).problems).toContain('chmod +x')
    expect((await examine(['--', './missing'])).problems).toContain('there is no file')
  })

  it.skipIf(process.platform === 'win32')('passes over folders of PATH that cannot be read', async () => {
    mkdirSync(join(cwd, 'closed'), { mode: 0 })
    // The administrator can read any folder, but follows no link without end.
    symlinkSync('round', join(cwd, 'round'))
    const PATH = ['closed', 'round', 'bin'].map((name) => join(cwd, name)).join(delimiter)
    const missing = await examine(['--', 'some-tool'], { env: { PATH } })
    expect(missing.problems).toContain('no program some-tool on the PATH')
    chmodSync(write('bin/some-tool', '#!/bin/sh\n'), 0o755)
    expect((await examine(['--', 'some-tool'], { env: { PATH } })).all).toContain(`some-tool is ${cwd}`)
  })

  it('checks a file and its project, and starts it', async () => {
    mkdirSync(join(cwd, 'node_modules'))
    symlinkSync(resolve('.'), join(cwd, 'node_modules', 'pierhead'))
    write('package.json', '{"name":"sums","type":"module","pierhead":{"server":"server.js"}}')
    write(
      'server.js',
      `import { createServer } from 'pierhead'
export default createServer({ name: 'sums', version: '1.0.0' }).tool('a.b', { description: 'Adds two numbers.' }, () => '3')`,
    )
    const { code, stdout, stderr } = await spawnLine(['doctor'], { cwd, env: { HOME: cwd } })
    const { problems, all } = reportOf(code, stdout, stderr)
    expect(code).toBe(8)
    expect(all).toContain('package.json fits the file')
    expect(all).toContain('connected to sums 1.0.0')
    expect(problems).toContain('tool "a.b": model vendors reject the name')
    write('empty.js', 'export const x = 1')
    const empty = await spawnLine(['doctor', 'empty.js'], { cwd, env: { HOME: cwd } })
    expect(reportOf(empty.code, empty.stdout, empty.stderr).problems).toContain('export default app')
  })

  it('finds what a TypeScript project lacks', async () => {
    write('package.json', '{"name":"sums",\n}')
    write('server.ts', 'export default 1')
    const { code, all, problems } = await examine(['server.ts'])
    expect(code).toBe(8)
    expect(problems).toContain('package.json is not valid JSON')
    expect(all).toContain('npm install --save-dev typescript')
  })
})

describe('doctor of a configuration', () => {
  it.each([
    ['.mcp.json', 'problem', 'Claude Code cannot read'],
    ['.cursor/mcp.json', 'advice', 'not all clients read'],
    ['.vscode/mcp.json', undefined, ''],
  ])(
    'judges comments and trailing commas by the client that reads the file: %s',
    async (name, level, text) => {
      const section = name.startsWith('.vscode') ? 'servers' : 'mcpServers'
      const lax = write(
        name,
        `{\n  // mine\n  "${section}": { "a": { "url": "https://mcp.example/mcp" }, },\n}`,
      )
      const { findings } = await examine(['--config', lax])
      const found = findings.find((one) => one.text.includes('trailing commas'))
      expect(found?.level).toBe(level)
      expect(found?.text ?? '').toContain(text)
      const strict = write(name, JSON.stringify({ [section]: { a: { url: 'https://mcp.example/mcp' } } }))
      const { all } = await examine(['--config', strict])
      expect(all).not.toContain('trailing commas')
    },
  )

  it.each([
    [
      'mcp.json',
      '{\n  "mcpServers": {\n    "a": { "command" }\n',
      'mcp.json is not valid JSON: line 3, column 22',
    ],
    ['.vscode/mcp.json', '{"mcpServers":{}}', 'Rename it to "servers"'],
    ['.mcp.json', '{"mcpServers":[]}', '"mcpServers" is not an object'],
    [
      'mcp.json',
      '{"mcpServers":{"a":{"command":"node x.js --token hush"}}}',
      '"args": ["x.js","--token","***"]',
    ],
    [
      'mcp.json',
      '{"mcpServers":{"a":{"command":"node","env":{"K":"${NO_SUCH_NAME}"}}}}',
      'uses the variable NO_SUCH_NAME',
    ],
    ['mcp.json', '{"mcpServers":{"a":{"command":"node","args":"x"}}}', '"args" that are not a list'],
    [
      'mcp.json',
      '{"mcpServers":{"a":{"command":"node","args":["/no/such.js"]}}}',
      'there is no file /no/such.js',
    ],
    ['mcp.json', '{"mcpServers":{"a":{}}}', 'neither a command nor a URL'],
    ['mcp.json', '{"mcpServers":{"a":{"url":"nowhere"}}}', 'a URL that is not valid'],
    ['mcp.json', '{"mcpServers":{"a\\u001b[31m":3}}', 'is not an object'],
    ['.codeium/windsurf/mcp_config.json', '{', 'is not valid JSON'],
  ])('finds what is wrong with %s: %s', async (file, text, problem) => {
    write(file, text)
    const report = await examine([])
    expect(report.problems).toContain(problem)
    expect(report.code).toBe(8)
    expect(report.all).not.toContain('hush')
    expect((await examine(['--config', file])).problems).toContain(problem)
  })

  it.each([
    [
      '{"mcpServers":{"a":{"url":"https://h.example/mcp","heders":{}}}}',
      'has "heders", which clients do not know; did you mean "headers"?',
    ],
    ['{"mcpServers":{"a":{"command":"node","arguments":[]}}}', 'has "arguments", which clients do not know'],
    ['{"mcpServers":{"a":{"url":"https://ann:hush@h.example/mcp"}}}', 'has a user or a password in its URL'],
    ['{"mcpServers":{"a":{"url":"https://h.example/mcp?api_key=hush"}}}', 'a secret in its URL ("api_key")'],
  ])('advises on %s', async (text, advice) => {
    write('mcp.json', text)
    const { code, all } = await examine([])
    expect(all).toContain(advice)
    expect(all).not.toContain('hush')
    expect(code).toBe(0)
  })

  it.each([
    '{"url":"https://h.example/mcp?api_key=${KEY:-}&page=1","type":"http","disabled":false}',
    '{"command":"node","args":[],"alwaysAllow":[],"$comment":"mine"}',
    '{"source":"custom","command":{"path":"node","args":[],"env":{}}}',
  ])('is content with %s', async (entry) => {
    write('mcp.json', `{"mcpServers":{"a":${entry}}}`)
    const found = (await examine([])).findings.filter(({ level }) => level !== 'ok')
    expect(found.map(({ text }) => text)).toEqual(ABOUT_NODE)
  })

  it('names the section that was probably meant, and how to check one of the servers', async () => {
    write('mcp.json', '{"mcpserver":{"a":{"command":"node"}}}')
    expect((await examine(['--config', 'mcp.json'])).problems).toContain('Rename it to "mcpServers"')
    const { stdout } = await line(['doctor', '--config', 'mcp.json'], { terminal: true, cwd })
    expect(stdout).toContain('pierhead doctor <name> --config mcp.json')
  })

  it('starts nothing that a configuration names, and is content with a good one', async () => {
    write('evil.sh', `#!/bin/sh\ntouch ${cwd}/started\n`)
    chmodSync(join(cwd, 'evil.sh'), 0o755)
    write(
      '.cursor/mcp.json',
      `{"mcpServers":{"a":{"command":${JSON.stringify(join(cwd, 'evil.sh'))}}, /* b */ },}`,
    )
    const { code, all } = await examine([])
    expect(code).toBe(0)
    expect(all).toContain('is valid, with 1 server')
    expect(() => realpathSync(join(cwd, 'started'))).toThrow('ENOENT')
  })

  it('checks the entry that is named, and then its server', async () => {
    const url = await serve(createServer(quiet))
    write('mcp.json', `{"mcpServers":{"sums":{"url":${JSON.stringify(url)}},"other":{}}}`)
    const { code, problems, all } = await examine(['sums'])
    expect({ code, problems }).toEqual({ code: 0, problems: '' })
    expect(all).toContain('the server "sums" in mcp.json is valid |')
    const wrong = await line(['doctor', 'smus'], { cwd })
    expect(wrong).toMatchObject({ code: 2, stdout: expect.stringContaining('"exit":2') })
    expect(wrong.stderr).toContain('did you mean "sums"?')
  })
})

describe('checks', () => {
  it('know which Node is too old', () => {
    const levels = ['v18.20.0', 'v20.18.1', 'v20.19.0', 'v22.0.0'].map((version) => {
      const findings = new Findings()
      checkNode(findings, version)
      return findings.list[0]?.level
    })
    expect(levels).toEqual(['problem', 'problem', 'advice', 'ok'])
  })

  const inputSchema = { type: 'object' }
  const description = 'Adds two numbers and returns the sum.'
  const texts = (...tools: object[]): string =>
    lintTools(tools)
      .map(({ level, text }) => `${level}: ${text}`)
      .join('\n')

  it('find names and schemas of tools that model vendors reject', () => {
    expect(texts({ name: 'add', description, inputSchema })).toBe('')
    expect(texts({ name: 'a b', description, inputSchema })).toContain('problem: tool "a b"')
    expect(texts({ name: 'x'.repeat(129), description, inputSchema })).toContain('problem: ')
    expect(texts({ name: 'x'.repeat(65), description, inputSchema })).toContain('advice: ')
    expect(texts({ name: 'add', description, inputSchema: { type: 'array' } })).toContain('not an object')
    expect(texts({ name: 'add', description })).toContain('not an object')
    expect(texts({ name: 'add', description, inputSchema: { type: 'object', anyOf: [] } })).toContain('anyOf')
    expect(
      texts({ name: 'add', description, inputSchema }, { name: 'add', description, inputSchema }),
    ).toContain('two tools')
    expect(texts({})).toContain('no name')
  })

  it('ask for descriptions that say what a tool does [S3-7.1-4]', () => {
    for (const poor of [
      undefined,
      ' ',
      'Add numbers',
      'add_Two numbers!',
      'TODO describe this tool',
      'x '.repeat(600),
    ])
      expect(texts({ name: 'add_two_numbers', description: poor, inputSchema })).toMatch(/^advice: .*descri/)
    const properties = { a: { type: 'number' }, b: { type: 'number', description: 'The second number.' } }
    expect(texts({ name: 'add', description, inputSchema: { type: 'object', properties } })).toContain(
      'no description for a',
    )
  })

  it('notice tools that are too coarse or too fine [S3-7.1-1]', () => {
    const about = { description: 'Something.' }
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`a${i}`, about]))
    expect(texts({ name: 'all', description, inputSchema: { type: 'object', properties: many } })).toContain(
      'too much',
    )
    const action = { ...about, enum: Array.from({ length: 8 }, (_, i) => `do${i}`) }
    expect(
      texts({ name: 'all', description, inputSchema: { type: 'object', properties: { action } } }),
    ).toContain('several tools in one')
    const fine = ['name', 'email', 'phone', 'age', 'city', 'street'].map((what) => ({
      name: `get_user_${what}`,
      description,
      inputSchema,
    }))
    expect(texts(...fine)).toContain('6 tools begin with get_user')
    expect(texts(...fine.slice(1))).toBe('')
    const crowd = Array.from({ length: 129 }, (_, i) => ({ name: `tool${i}`, description, inputSchema }))
    expect(texts(...crowd)).toContain('there are 129 tools')
  })

  it('list only as much as people read', () => {
    const findings = new Findings()
    findings.addAll(lintTools(Array.from({ length: 500 }, (_, i) => ({ name: `tool ${i}` }))))
    expect(findings.list).toHaveLength(21)
    expect(findings.list.at(-1)?.text).toContain('more like these')
  })
})
