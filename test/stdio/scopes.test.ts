import { expect, test } from 'vitest'
import { call } from '../http/messages.ts'
import { Child, opened } from './child.ts'

test('the program that started a server has all scopes', async () => {
  const child = (await opened()).send(call('scoped', {}, 5))
  expect(await child.reply(5)).toMatchObject({ result: { content: [{ text: 'scoped' }] } })
  expect(child.stderr).not.toContain('scopes')
})

test('or those that the options of stdio name', async () => {
  const child = (await opened(['limited'])).send(call('scoped', {}, 5))
  const error = { code: 1014, data: { scopes: ['a', 'b'], refusal: { name: 'AUTHZ_FORBIDDEN' } } }
  expect(await child.reply(5)).toMatchObject({ error })
})

test('beside it, a port gives no scopes, which the server reports', async () => {
  const child = await new Child(['beside']).until(({ stderr }) => stderr.includes('listening'))
  expect(child.stderr.match(/"scoped" needs scopes/g)).toHaveLength(1)
})
