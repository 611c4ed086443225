import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { hiddenVariables } from '../../src/cli/redaction.ts'
import { lintTools } from '../../src/cli/tool-lint.ts'
import { Output } from '../../src/cli/output.ts'
import { line, type Outcome } from './line.ts'

let cwd = ''

beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'pierhead-secrets-')))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
})

/** The URL of a server that repeats what it was sent. */
async function echo(answer: (said: string, response: ServerResponse) => void): Promise<string> {
  const said = ({ url = '', headers }: IncomingMessage): string =>
    `host [${[headers['x-api-key'] ?? ''].flat().join(' ')}] [${headers.authorization}] ${url}`
  const server = createServer((request, response) => answer(said(request), response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp?key=hush-hush%20"1`
}

/** Runs a line in a folder whose mcp.json has the server "n". */
function withEntry(entry: object, ...args: string[]): Promise<Outcome> {
  writeFileSync(join(cwd, 'mcp.json'), JSON.stringify({ mcpServers: { n: entry } }))
  return line(args, { cwd, env: { HOME: cwd } })
}

describe('doctor hides the secrets of a configuration', () => {
  it.each<readonly [string, (said: string, response: ServerResponse) => void]>([
    ['a 403', (said, response) => response.writeHead(403).end(said)],
    ['a long 403', (said, response) => response.writeHead(403).end(`host${' .'.repeat(75)} ${said}`)],
    ['a redirect', (said, response) => response.writeHead(302, { location: `/x?${said}` }).end()],
    [
      'a long redirect',
      (said, response) => response.writeHead(302, { location: `/${'x'.repeat(280)}?${said}` }).end(),
    ],
    ['a challenge', (said, response) => challenge(said, response)],
  ])('that %s repeats', async (_, answer) => {
    const url = await echo(answer)
    const headers = { 'X-Api-Key': 'hush-hush-2', Authorization: 'Bearer hush-hush-3' }
    for (const { code, stdout, stderr } of [
      await withEntry({ url, headers }, 'doctor', 'n'),
      await line(['doctor', url, '-H', 'X-Api-Key: hush-hush-2'], { cwd, env: { HOME: cwd } }),
    ]) {
      expect(code).toBe(8)
      expect(stdout + stderr).toMatch(/refuses the request|redirects to|asks for a login/)
      expect(stdout + stderr).not.toContain('hush')
    }
  })

  function challenge(said: string, response: ServerResponse): void {
    const place = `https://h/${said.replaceAll('"', '')}`
    response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${place}"` }).end()
  }
})

it('hides the secrets in the names of tools and arguments before they are cut', () => {
  const redacted = (text: string): string => text.replaceAll('hush-hush', '***')
  const name = `${'a'.repeat(75)}hush-hush`
  const properties = { [`${'b'.repeat(35)}hush-hush`]: {} }
  const tool = { name, description: 'It says what it does.', inputSchema: { type: 'object', properties } }
  const odd = { ...tool, name: `${'c '.repeat(37)}hush-hush` }
  const found = lintTools([tool, tool, odd], redacted)
  expect(found.length).toBeGreaterThan(3)
  expect(JSON.stringify(found)).not.toContain('hus')
})

describe('the variables of a configuration', () => {
  it('are hidden whatever their names are, as those of --env', async () => {
    const script = `require('node:readline').createInterface({ input: process.stdin }).on('line', (text) => {
      const error = { code: -32000, message: 'no ' + process.env.SAID + '!' }
      console.log(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(text).id, error }))
    })`
    writeFileSync(join(cwd, 'srv.cjs'), script)
    const values = ['hush-hush-4', 'postgres://u:hush-5%21@h/db?mode=hush-hush-6', 'Bearer hush-hush-7']
    const [PAT = '', DATABASE_URL = '', HEADER = ''] = values
    for (const SAID of [...values, 'hush-5%21', 'hush-5!', 'hush-hush-6', 'hush-hush-7']) {
      // The program knows it otherwise.
      writeFileSync(join(cwd, 'said.cjs'), `process.env.SAID = ${JSON.stringify(SAID)}; require('./srv.cjs')`)
      const entry = { command: process.execPath, args: ['said.cjs'], env: { PAT, DATABASE_URL, HEADER } }
      for (const name of ['list', 'doctor']) {
        const { code, stdout, stderr } = await withEntry(entry, name, 'n')
        expect(code).not.toBe(0)
        expect(stdout + stderr).toMatch(/no (?:Bearer )?\*\*\*!/)
        expect(stdout + stderr).not.toContain('hush')
      }
    }
  })

  it('are shown where everybody knows them', () => {
    const all = {
      NODE_ENV: 'production',
      DEBUG: 'true',
      PORT: '3000',
      HOST: 'localhost',
      LANG: 'en_US.UTF-8',
    }
    const output = new Output({ stdout: {}, stderr: {}, env: {} } as never)
    output.hide(hiddenVariables({ ...all, DB: 'postgres://u:topsecret@localhost/d?sslmode=require' }))
    const text = Object.values(all).join(' ')
    expect(output.redacted(`${text} require`)).toBe(`${text} require`)
    expect(output.redacted('for u:topsecret, topsecret')).toBe('for ***, ***')
    // A secret may be a word.
    expect(hiddenVariables({ DB_PASSWORD: 'production' })).toContain('production')
  })
})

describe('credentials of Basic', () => {
  const PAIR = Buffer.from('ada:hush:hush 8').toString('base64')
  it.each<readonly [string, object, readonly string[]]>([
    ['--header', {}, ['-H', `Authorization: Basic ${PAIR}`]],
    ['a configuration', { headers: { Authorization: `basic ${PAIR}` } }, []],
  ])('are hidden if they came from %s', async (_, more, words) => {
    for (const shown of ['ada:hush:hush 8', 'hush:hush 8', PAIR]) {
      const url = await echo((_said, response) => {
        response.setHeader('content-type', 'application/json')
        const error = { code: -32000, message: `no ${shown}!` }
        response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error }))
      })
      const { code, stdout, stderr } = await withEntry({ url, ...more }, 'list', 'n', ...words)
      expect(code).not.toBe(0)
      expect(stderr).toContain('no ***!')
      expect(stdout + stderr).not.toContain(shown)
    }
  })
})
