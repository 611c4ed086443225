import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { answering } from './answering.ts'
import { line, spawnLine, type Outcome } from './line.ts'
import { plainServer } from './plain-server.ts'

let cwd = ''

beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'pierhead-hints-')))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
})

/** The URL of a server that answers every request in the same way. */
async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

/** Runs a line in a folder whose mcp.json has one server. */
function withEntry(name: string, entry: object, ...args: string[]): Promise<Outcome> {
  writeFileSync(join(cwd, 'mcp.json'), JSON.stringify({ mcpServers: { [name]: entry } }))
  return line(args, { cwd, env: { HOME: cwd, PIERHEAD_TOKEN: 'wrong-token' } })
}

describe('the fix of an error about a URL', () => {
  it('is the other address, if the server redirects', async () => {
    const url = await serve((_, response) =>
      response.writeHead(302, { location: 'https://other.example/' }).end(),
    )
    const { code, stderr } = await line(['list', url])
    expect(stderr).toContain('fix: Use the address that it redirects to')
    expect(code).toBe(4)
  })

  it('names the file and the entry that have a password', async () => {
    const { code, stderr } = await withEntry(
      'notes',
      { url: 'http://bob:hush@127.0.0.1:9/mcp' },
      'list',
      'notes',
    )
    expect(stderr).toContain(
      `${join(cwd, 'mcp.json')}: the URL of the server "notes" has a user and a password`,
    )
    expect(stderr).toContain('"headers": { "Authorization": "Basic …" }')
    expect(stderr).not.toContain('hush')
    expect(code).toBe(2)
  })
})

describe('the fix of a program that misses a variable', () => {
  it.each([
    [{}, 'fix: Set the variable for it: --env FILMS_KEY=value'],
    [{ FILMS_KEY: 'hush-hush' }, 'pass it on: --env FILMS_KEY'],
  ])('says how to give it that, with %j', { timeout: 60_000 }, async (env, fix) => {
    const lines = ['Error: FILMS_KEY is not set', "  code: 'ERR_MISSING_ARGS'"]
    const program = `console.error(${JSON.stringify(lines.join('\n'))})\nprocess.exit(1)\n`
    writeFileSync(join(cwd, 'needy.mjs'), program)
    for (const args of [
      ['list', '--', process.execPath, 'needy.mjs'],
      ['list', 'needy.mjs'],
      ['doctor', '--no-json', '--', process.execPath, 'needy.mjs'],
    ]) {
      const { stdout, stderr } = await spawnLine(args, { cwd, env: { HOME: cwd, ...env } })
      expect(stdout + stderr).toContain(fix)
      expect(stdout + stderr).not.toContain('hush-hush')
    }
  })
})

it.each([
  [['read', 'notes://1']],
  [['prompt', 'review']],
  [['complete', 'review', 'topic=a']],
  [['tasks', 'show', 'x']],
])('what a server does not offer can be seen with info: %j', async (words) => {
  const { code, stderr } = await line([...words, '--', process.execPath, plainServer(cwd)])
  expect(code).toBe(6)
  expect(stderr).toContain(
    'which this server does not offer\nfix: pierhead info shows what the server offers.',
  )
})

describe('a command in a fix', () => {
  const NAME = 'x; touch pwned'
  const QUOTED = process.platform === 'win32' ? `"${NAME}"` : `'${NAME}'`
  const refused: RequestListener = (_, response) => response.writeHead(401).end()

  it.each([
    ['auth', 'login', NAME],
    ['list', NAME],
  ])('quotes a name of a configuration: %j', async (...args) => {
    const { code, stderr } = await withEntry(NAME, { url: await serve(refused) }, ...args)
    expect(stderr).toContain(`pierhead auth login ${QUOTED}`)
    expect(code).toBe(3)
  })

  it('quotes the name of a file', async () => {
    expect((await line(['keys', 'show', `${NAME}.pem`], { cwd })).stderr).toContain(
      `pierhead keys create ${QUOTED.replace(NAME, `${NAME}.pem`)}`,
    )
  })

  it('does not pretend that a URL without its secrets works', async () => {
    const url = await serve(refused)
    const { stderr } = await line(['auth', 'login', `${url}?key=hush`], { cwd, env: { HOME: cwd } })
    expect(stderr).toContain('pierhead auth login URL (the one that you gave, whose secrets are not shown)')
    expect(stderr).not.toContain('hush')
    expect((await line(['auth', 'login', url], { cwd, env: { HOME: cwd } })).stderr).toContain(
      `pierhead auth login ${url}\n`,
    )
  })
})

describe('the name that was probably meant', () => {
  it.each([
    [
      ['read', 'notes://abot'],
      { 'resources/list': { resources: [{ uri: 'notes://about', name: 'a' }] } },
      'notes://about',
    ],
    [['complete', 'revew', 'a=b'], { 'prompts/list': { prompts: [{ name: 'review' }] } }, 'review'],
    [
      ['complete', 'city://{nme}', 'name=b'],
      { 'resources/templates/list': { resourceTemplates: [{ uriTemplate: 'city://{name}', name: 'c' }] } },
      'city://{name}',
    ],
  ])('is suggested where a server rejects %j', async (words, lists, meant) => {
    const { code, stderr } = await line([...words, '--env', 'CODE=-32602', ...answering(lists)])
    expect(stderr).toContain(`; did you mean "${meant}"?`)
    expect(code).toBe(6)
  })

  it('is that of a configured server where a word is not a kind', async () => {
    const { code, stderr } = await withEntry('sums', { command: 'node' }, 'list', 'smus')
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('did you mean "sums"?') })
  })
})
