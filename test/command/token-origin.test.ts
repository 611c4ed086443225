import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { line, type Outcome } from './line.ts'

const TOKEN = 'a-secret-token-of-the-user'

let [folder, origin] = ['', '']
let seen: Set<string | undefined> = new Set()

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pierhead-token-'))
  seen = new Set()
  const server = createServer((request, response) => {
    seen.add(request.headers.authorization)
    response.writeHead(401).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { notes: { url: `${origin}/mcp` } } }))
})

function run(args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  const env = { HOME: folder, USERPROFILE: folder, PIERHEAD_TOKEN: TOKEN, ...more }
  return line(args, { cwd: folder, env })
}

const COMMANDS: readonly (readonly [name: string, args: readonly string[]])[] = [
  ['list', ['list']],
  ['doctor', ['doctor']],
  ['validate', ['validate', '--total', '20s']],
]

describe('PIERHEAD_TOKEN', () => {
  it.each(COMMANDS)('is not sent to the URL of a configuration: %s', async (_, args) => {
    for (const more of [{}, { PIERHEAD_TOKEN_ORIGIN: 'http://127.0.0.1:1, https://x.example/mcp' }]) {
      const { code, stdout, stderr } = await run([...args, '--server', 'notes'], more)
      expect(code).not.toBe(0)
      expect(seen.size).toBeGreaterThan(0)
      expect([...seen].join()).not.toContain(TOKEN)
      const said = stdout + stderr
      expect(said).toContain(
        `PIERHEAD_TOKEN was not sent, because the URL comes from ${join(folder, 'mcp.json')}`,
      )
      expect(said).toContain(`PIERHEAD_TOKEN_ORIGIN=${origin}`)
    }
  })

  it.each(COMMANDS)(
    'is sent to a URL that the user types, and to an origin that the user names: %s',
    async (_, args) => {
      for (const [target, more] of [
        [`${origin}/mcp`, {}],
        ['notes', { PIERHEAD_TOKEN_ORIGIN: `https://x.example ${origin}` }],
      ] as const) {
        seen.clear()
        const { stdout, stderr } = await run([...args, '--server', target], more)
        expect([...seen]).toContain(`Bearer ${TOKEN}`)
        expect(stdout + stderr).not.toContain('was not sent')
        expect(stdout + stderr).not.toContain(TOKEN)
      }
    },
  )
})
