import { expect, test } from 'vitest'
import { changeMetadata } from './engine-issuer.ts'
import { callTool, openAuth } from './engine-server.ts'
import { DESK, entryOf, expire, startWorld, type World } from './engine-world.ts'

/** Lets the token endpoint reject requests with an error. */
function reject({ issuer }: World, error: string, status = 400): void {
  issuer.instead.set('/token', (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
  })
}

test.each(['temporarily_unavailable', 'server_error', 'slow_down', 'too_many_requests'])(
  'the refresh token is kept if the issuer answers with 400 and %s',
  async (code) => {
    const world = await startWorld()
    await world.call('who')
    await expire(world.vault)
    const before = await entryOf(world.vault)
    world.server.rejected.add(before.tokens?.accessToken)
    reject(world, code)
    await world.fail('who', { storedOnly: true })
    expect(await entryOf(world.vault)).toEqual(before)
    world.issuer.instead.delete('/token')
    expect(await world.call('who', { storedOnly: true })).toBe('ann notes:read')
  },
)

test('after an error that will not pass, the user logs in again, and until then the refresh token is kept', async () => {
  const world = await startWorld()
  await world.call('who')
  await expire(world.vault)
  const before = await entryOf(world.vault)
  world.server.rejected.add(before.tokens?.accessToken)
  reject(world, 'unsupported_grant_type')
  const error = await world.fail('who', { storedOnly: true })
  expect(error).toMatchObject({ kind: 'login_needed' })
  expect(await entryOf(world.vault)).toEqual(before)
  const open = (page: URL): Promise<URL> => {
    world.issuer.instead.delete('/token')
    return world.open(page)
  }
  expect(await world.call('who', { open })).toBe('ann notes:read')
})

test.each([
  ['invalid_grant', { registration: true, tokens: false }],
  ['invalid_client', { registration: false, tokens: false }],
  ['unauthorized_client', { registration: false, tokens: false }],
])('the refresh token of a client that registered itself is forgotten after %s', async (code, kept) => {
  const world = await startWorld()
  await world.call('who')
  await expire(world.vault)
  reject(world, code)
  const error = await world.fail('who', { storedOnly: true })
  expect(error).toMatchObject({ kind: 'login_needed' })
  const { registration, tokens } = await entryOf(world.vault)
  expect({ registration: registration !== undefined, tokens: tokens !== undefined }).toEqual(kept)
  // The list of steps begins with the refresh, which came before the request.
  expect(error.message).toContain(`the refresh token, which the issuer rejects with ${code}`)
  // The next run does not ask the issuer, and still knows why.
  const again = await world.fail('who', { storedOnly: true })
  expect(again.message).toContain(`the issuer rejected the refresh token with ${code} on `)
})

test('a client id of the options that the issuer does not accept costs no refresh token', async () => {
  const world = await startWorld({ configuration: { clients: [DESK] } })
  await world.call('who', { clientId: 'desk' })
  await expire(world.vault)
  const before = await entryOf(world.vault)
  reject(world, 'invalid_client', 401)
  world.server.rejected.add(before.tokens?.accessToken)
  await world.fail('who', { clientId: 'desk', storedOnly: true })
  expect(await entryOf(world.vault)).toEqual(before)
})

test('an error of the vault during an early refresh is not hidden', async () => {
  const world = await startWorld()
  await world.call('who')
  await expire(world.vault)
  const broken = {
    ...world.vault,
    update: () => Promise.reject(new Error('the disk is full')),
  }
  const client = openAuth(world.login({ vault: broken }), world.server.url)
  world.server.replies.length = 0
  await expect(callTool(client, world.server.url, 'who')).rejects.toThrow('the disk is full')
  expect(world.server.replies).toEqual([])
})

test('an early refresh that fails is in the steps of the login that follows', async () => {
  const world = await startWorld()
  await world.call('who')
  await expire(world.vault)
  const { tokens } = await entryOf(world.vault)
  world.server.rejected.add(tokens?.accessToken)
  await changeMetadata(world.issuer, { issuer: 'https://other.example' })
  const error = await world.fail('who', { storedOnly: true })
  const steps = (error.data as { readonly steps: readonly string[] }).steps
  expect(steps.findIndex((step) => step.includes('https://other.example'))).toBeLessThan(
    steps.findIndex((step) => step.includes('sent a request')),
  )
  expect(steps[0]).not.toContain('sent a request')
})
