import { McpError } from '../../src/index.ts'
import { connectAll } from '../../src/client.ts'
import type { Mistake } from './mistake.ts'

/** A configuration whose only server, `notes`, is wrong. Its failure must be one of ours, and name the server. */
function entry(wrote: string, server: unknown, problem: string | RegExp, fix: string | RegExp): Mistake {
  return {
    wrote: `connectAll({ notes: ${wrote} })`,
    async make({ after }) {
      const group = await connectAll({ mcpServers: { notes: server } } as never)
      after(() => group.close())
      const failure = group.failures.get('notes')
      if (failure instanceof McpError && failure.message.includes('connectAll "notes"'))
        return failure.message
      throw new Error('the failure is a raw error, or does not name the server')
    },
    problem,
    fix,
  }
}

/** The whole configuration is wrong. */
function whole(wrote: string, config: unknown): Mistake {
  return {
    wrote: `connectAll(${wrote})`,
    make: () => connectAll(config as never),
    problem: /^connectAll: /,
    fix: 'pass servers by name: { name: target }',
  }
}

const NODE = { command: process.execPath, args: ['-e', '0'] }
const PROBLEM = /^connectAll "notes": /
const FORMS = 'pass a URL, { command, args } or a server'
const HEADERS = 'an object: header values by name'

/** Mistakes in the configuration of several servers, which often comes from a file. */
export const grouping: readonly Mistake[] = [
  whole('{ mcpServers: 5 }', { mcpServers: 5 }),
  whole("{ servers: 'notes' }", { servers: 'notes' }),
  whole('{ mcpServers: null }', { mcpServers: null }),
  whole('{ mcpServers: […] }', { mcpServers: [NODE] }),
  entry('null', null, PROBLEM, FORMS),
  entry('5', 5, PROBLEM, FORMS),
  entry("['node', 'server.js']", ['node', 'server.js'], PROBLEM, FORMS),
  entry('{}', {}, 'the target has neither a command nor a url', FORMS),
  entry("{ type: 'stdio' }", { type: 'stdio' }, 'the target has neither a command nor a url', FORMS),
  entry("'node server.js'", 'node server.js', PROBLEM, 'write { command, args }'),
  entry('{ url: { toString: null } }', { url: { toString: null } }, PROBLEM, 'url must be a string'),
  entry("{ command: '' }", { command: '' }, 'command', 'the name or path of a program'),
  entry('{ command, env: null }', { ...NODE, env: null }, 'env', "{ NAME: 'value' }"),
  entry('{ command, env: [] }', { ...NODE, env: ['A=1'] }, 'env', "{ NAME: 'value' }"),
  entry('{ command, env: { A: 1 } }', { ...NODE, env: { A: 1 } }, 'env "A"', 'a string without NUL'),
  entry('{ command, cwd: 5 }', { ...NODE, cwd: 5 }, 'cwd', 'the path of a directory'),
  entry('{ url, headers: null }', { url: 'http://localhost', headers: null }, 'headers must be', HEADERS),
  entry("{ url, headers: 'x' }", { url: 'http://localhost', headers: 'x' }, 'headers must be', HEADERS),
  entry(
    '{ url, headers: { a: 1 } }',
    { url: 'http://localhost', headers: { a: 1 } },
    'headers "a"',
    'the value is not a string',
  ),
  entry(
    "{ url: 'ws:…', headers: { a: {} } }",
    { url: 'ws://localhost', headers: { a: {} } },
    'headers "a"',
    'the value is not a string',
  ),
  entry(
    "{ url: 'ws:…#x' }",
    { url: 'ws://127.0.0.1:4000/#x' },
    'the URL has a fragment',
    'remove the part from # on',
  ),
]
