import { writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { COMMANDS } from '../../src/cli/commands.ts'

/** The words after the target of each command that has one. Tests fail if a command is missing. */
export const WORDS: Readonly<Record<string, readonly string[]>> = {
  list: [],
  call: ['evil', 'a=b'],
  read: ['evil://1'],
  prompt: ['evil', 'topic=tea'],
  complete: ['evil', 'a=b'],
  watch: ['evil://1', '--count', '1', '--log', 'debug'],
  info: [],
  ping: [],
  'tasks list': [],
  'tasks show': ['evil'],
  'tasks wait': ['evil'],
  'tasks cancel': ['evil'],
  test: ['--generate', '--all'],
  validate: ['--target', '2025-11'],
  doctor: [],
  conformance: ['--target', '2025-11', '--allow-calls'],
}

/** A line with a wrong argument for each command, and what it says. */
export const WRONG: Readonly<Record<string, readonly [line: readonly string[], says: string]>> = {
  create: [['create', '...'], 'is not a name for a project'],
  add: [['add', 'tol', 'x'], '"tol" is not a kind'],
  run: [['run', 'missing.ts'], 'missing.ts'],
  dev: [['dev', 'missing.ts'], 'missing.ts'],
  build: [['build', 'missing.ts'], 'missing.ts'],
  list: [['list', 'no-such-server'], 'is not a target'],
  call: [['call', 'http://127.0.0.1/mcp'], 'the tool is missing'],
  read: [['read', 'http://127.0.0.1/mcp'], 'the uri is missing'],
  prompt: [['prompt', 'http://127.0.0.1/mcp'], 'the name is missing'],
  complete: [['complete', 'http://127.0.0.1/mcp', 'review'], 'the argument is missing'],
  watch: [['watch', 'http://127.0.0.1/mcp', '--count', 'many'], 'many'],
  info: [['info', 'http://127.0.0.1/mcp', 'more'], 'more'],
  ping: [['ping', 'http://127.0.0.1/mcp', 'more'], 'more'],
  'tasks list': [['tasks', 'list', 'http://127.0.0.1/mcp', '--limit', 'all'], 'all'],
  'tasks show': [['tasks', 'show', 'http://127.0.0.1/mcp'], 'the id is missing'],
  'tasks wait': [['tasks', 'wait', 'http://127.0.0.1/mcp'], 'the id is missing'],
  'tasks cancel': [['tasks', 'cancel', 'http://127.0.0.1/mcp'], 'the id is missing'],
  'tasks retry': [['tasks', 'retry', 'x'], '--store'],
  test: [['test', 'http://127.0.0.1/mcp', '--fixtures', 'no/such/folder'], 'there is no folder'],
  validate: [['validate', 'http://127.0.0.1/mcp', '--target', '2025-12'], 'is not a revision'],
  conformance: [['conformance', 'http://127.0.0.1:1/mcp'], '--allow-calls'],
  doctor: [['doctor', 'no-such-server'], 'no-such-server'],
  install: [['install', 'http://127.0.0.1/mcp', '--client', 'cursr'], 'cursr'],
  'auth login': [['auth', 'login', 'tcp://127.0.0.1:1'], 'only servers at http and ws URLs have logins'],
  'auth status': [['auth', 'status', 'tcp://127.0.0.1:1'], 'only servers at http and ws URLs have logins'],
  'auth logout': [['auth', 'logout'], 'the url is missing'],
  'keys create': [['keys', 'create', 'a.pem', 'more'], 'unexpected argument "more"'],
  'keys show': [['keys', 'show', 'none.json'], 'there is no file none.json'],
  'keys allow': [['keys', 'allow', 'allowed.json', 'ed25519:short', '--sub', 'ann'], 'ed25519'],
  completion: [['completion', 'fsh'], 'fsh'],
}

/** Commands that talk to a server, and read their target themselves. */
const OTHERS: readonly string[] = ['validate', 'conformance', 'doctor']

/** Lets conformance go as far as it can here: in a later Node, with an npm that cannot install the suite. Returns the way back. */
export function withoutSuite(folder: string): () => void {
  const version = Object.getOwnPropertyDescriptor(process, 'version') ?? {}
  const { PATH = '' } = process.env
  writeFileSync(join(folder, 'npm'), '#!/bin/sh\necho no network >&2\nexit 1\n', { mode: 0o755 })
  Object.defineProperty(process, 'version', { ...version, value: 'v22.12.0' })
  process.env['PATH'] = `${folder}${delimiter}${PATH}`
  return () => {
    Object.defineProperty(process, 'version', version)
    process.env['PATH'] = PATH
  }
}

/** The commands that talk to a server. */
export function talking(): readonly string[] {
  const talks = COMMANDS.filter(({ name, hasTarget }) => hasTarget === true || OTHERS.includes(name))
  return talks.map(({ name }) => name)
}

/** The line of a command that talks to a server. */
export function lineOf(
  name: string,
  target: readonly string[],
  ...more: readonly string[]
): readonly string[] {
  const [first = ''] = target
  const words = WORDS[name] ?? []
  // A program comes last.
  return first === '--'
    ? [...name.split(' '), ...words, ...more, ...target]
    : [...name.split(' '), ...target, ...words, ...more]
}
