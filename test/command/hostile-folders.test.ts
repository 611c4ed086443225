import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { projectFiles } from '../../src/cli/project-files.ts'
import { isTrusted } from '../../src/cli/trust.ts'
import { COMMAND, line } from './line.ts'

let folder = ''

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'pierhead-folders-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

/** Makes folders and files; those that end with / are folders. */
function make(...paths: string[]): void {
  for (const path of paths)
    if (path.endsWith('/')) mkdirSync(join(folder, path), { recursive: true })
    else writeFileSync(join(folder, path), '{"mcpServers":{"add":{"command":"no-such-program"}}}')
}

function found(cwd: string, home = '/nowhere'): readonly string[] {
  const io = { cwd: join(folder, cwd), env: { HOME: home, USERPROFILE: home } }
  return projectFiles(io).map((file) => relative(folder, file))
}

describe('configurations of a project', () => {
  it('are not searched above its root', () => {
    make('a/b/c/', 'mcp.json', 'a/mcp.json', 'a/b/mcp.json', 'a/b/c/mcp.json', 'a/b/package.json')
    expect(found('a/b/c')).toEqual(['a/b/c/mcp.json', 'a/b/mcp.json'])
    make('a/.git/')
    expect(found('a/b/c')).toEqual(['a/b/c/mcp.json', 'a/b/mcp.json', 'a/mcp.json'])
  })

  it('are only those of the folder itself where there is no project', () => {
    make('a/b/', 'mcp.json', 'a/mcp.json', 'a/b/mcp.json')
    expect(found('a/b')).toEqual(['a/b/mcp.json'])
  })

  it('are not searched above the home folder', () => {
    make('home/a/', 'mcp.json', 'home/mcp.json', 'home/a/mcp.json')
    expect(found('home/a', join(folder, 'home'))).toEqual(['home/a/mcp.json', 'home/mcp.json'])
    make('home/a/.git/')
    expect(found('home/a', join(folder, 'home'))).toEqual(['home/a/mcp.json'])
  })

  it('do not replace the server of the project from outside of it', async () => {
    make('project/', 'mcp.json')
    writeFileSync(join(folder, 'project/package.json'), '{"pierhead":{"server":"gone.mjs"}}')
    const { stderr } = await line(['call', 'add', 'a=1'], { cwd: join(folder, 'project') })
    expect(stderr).toContain('there is no file')
    expect(stderr).not.toContain('no-such-program')
  })

  it('of other users are not trusted', () => {
    expect(isTrusted(1000, 1000, {})).toBe(true)
    expect(isTrusted(0, 1000, {})).toBe(true)
    expect(isTrusted(1001, 1000, {})).toBe(false)
    expect(isTrusted(1001, 0, {})).toBe(false)
    // The administrator by sudo is still that user; nobody else becomes one by a variable.
    expect(isTrusted(1000, 0, { SUDO_UID: '1000' })).toBe(true)
    expect(isTrusted(1001, 0, { SUDO_UID: '1000' })).toBe(false)
    expect(isTrusted(1001, 1000, { SUDO_UID: '1001' })).toBe(false)
  })
})

it('does not end with success when the reader of its output has gone', async () => {
  const script = '"$0" "$@" | true; echo "${PIPESTATUS[0]}"'
  const shell = spawn('bash', ['-c', script, process.execPath, ...COMMAND, 'completion', 'bash'])
  let text = ''
  for await (const chunk of shell.stdout.setEncoding('utf8')) text += chunk as string
  expect(text.trim()).toBe('141')
})

/** A server that only greets. */
const SERVER = `
import { createInterface } from 'node:readline'
const about = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'plain', version: '1' } }
const unknown = { code: -32601, message: 'no' }
createInterface({ input: process.stdin }).on('line', (text) => {
  const { id, method } = JSON.parse(text)
  const answer = { initialize: { result: about }, ping: { result: {} } }[method] ?? { error: unknown }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
})
`

it('shows no escape sequences of the name of a program', async () => {
  const name = join(folder, 'a\u001b[31m\u202e.mjs')
  writeFileSync(name, `#!${process.execPath}\n${SERVER}`, { mode: 0o755 })
  for (const words of [['ping'], ['info'], ['doctor']]) {
    const { code, stdout, stderr } = await line([...words, '--', name], { terminal: true })
    expect(code).toBe(0)
    expect(stdout).toContain('\\u001b')
    // oxlint-disable-next-line no-control-regex
    expect((stdout + stderr).replaceAll('\r\u001b[2K', '')).not.toMatch(/[\u001b\u202e]/)
  }
})
