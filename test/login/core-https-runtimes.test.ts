import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { authority, listenSecure, pair, server } from '../auth/secure.ts'
import { runProgram } from '../mounts/run-program.ts'

const anna = authority.issue('anna', [])

test.each(['bun', 'deno'] as const)(
  'in %s the TLS options are honoured over HTTPS too: authority, certificate and pin',
  async (runtime) => {
    const { address } = await listenSecure('http', { ...pair(server), ca: authority.cert, requestCert: true })
    const folder = mkdtempSync(join(tmpdir(), 'https-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'tls.json')
    const pinned = { ca: authority.cert, ...pair(anna), pin: server.fingerprint }
    const wrong = { ca: authority.cert, ...pair(anna), pin: 'ab'.repeat(32) }
    writeFileSync(file, JSON.stringify([pinned, wrong]))
    const child = runProgram(runtime, new URL('core-https-caller.ts', import.meta.url), address, file)
    const outcomes = JSON.parse(await text(child.stdout)) as readonly string[]
    expect(outcomes).toEqual([
      expect.stringContaining('CN=anna'),
      expect.stringMatching(/^connect_failed: .* which is not in tls\.pin/),
    ])
  },
)
