import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { connect, connectAll } from '../../src/client.ts'
import type { Target } from '../../src/client/target.ts'
import { failureOf } from '../harness/failure.ts'

const TARGETS: readonly (readonly [target: Target, shown: string])[] = [
  ['u:hunter2@host/mcp', '"host/mcp"'],
  ['user:hunter2@host', '"host"'],
  ['user:p@hunter2@host', '"host"'],
  ['user:p#hunter2@host', '"host"'],
  ['//user:hunter2@host/', '"//host/"'],
  ['htp://user:hunter2@host/', '"htp://host/"'],
  [' http://user:hunter2@[bad/', '"http://[bad/"'],
  ['token=hunter2', '"token=…"'],
  ['example.com/mcp?key=hunter2', 'write https://example.com/mcp?…'],
  ['htp://host/#hunter2', '"htp://host/#…"'],
  ['ws://127.0.0.1:1/#hunter2', 'the URL has a fragment'],
  ['tcp://127.0.0.1:1#hunter2', 'the URL has a fragment'],
  [{ command: 'nowhere --token=hunter2' }, 'the command "nowhere …": it was not found'],
  [{ command: '/no/where --token=hunter2' }, 'the file /no/where … does not exist'],
  [{ command: 'nowhere hunter2', cwd: '/no/where' }, 'the command "nowhere …"'],
  [{ command: ' nowhere\thunter2' }, 'the command "nowhere …"'],
]

test.each(TARGETS)(
  'the error for the target %j does not repeat the secret [C.secret-shown]',
  async (target, shown) => {
    const error = await failureOf(connect(target, { recovery: false }))
    expect(error.message).toContain(shown)
    const entry = typeof target === 'string' ? { url: target } : (target as object)
    const group = await connectAll({ one: entry as Target }, { recovery: false })
    for (const one of [error, group.failures.get('one')]) {
      expect(one).toBeInstanceOf(Error)
      expect(inspect(one, { depth: 9 })).not.toContain('hunter2')
    }
  },
)

test('what is not a public key may be a private one, so it is not repeated [C.secret-shown]', async () => {
  const keys = {
    own: { publicKey: '-----BEGIN PRIVATE KEY-----\nhunter2', fingerprint: '', sign: () => new Uint8Array() },
  }
  const error = await failureOf(connect({ command: process.execPath }, { keys }))
  expect(error.message).toContain('the given text is not a public key')
  expect(inspect(error, { depth: 9 })).not.toContain('hunter2')
})
