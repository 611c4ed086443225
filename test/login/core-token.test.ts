import { expect, test } from 'vitest'
import { token } from '../../src/auth-client.ts'
import { connect } from '../../src/client.ts'
import { failure, guarded } from './core-guarded.ts'

test.each(['http', 'ws'] as const)(
  'a token of the program works over %s, and is asked for again',
  async (transport) => {
    const server = await guarded({ [transport]: { port: 0 } })
    let asked = 0
    const auth = token(() => (++asked === 1 ? 'old' : 'good'))
    await using client = await connect(server[transport], { auth })
    expect(await client.call('who')).toBe('good')
    const error = await failure(connect(server[transport], { auth: token(() => 'bad') }))
    expect(error.data).toMatchObject({ status: 401 })
    expect(error.message).not.toContain('bad')
  },
)
