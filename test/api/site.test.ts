import { createServer as createHttp } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { createSite } from '../../examples/orders/site.ts'
import { connect, type Client } from '../../src/client.ts'
import { listen } from '../mounts/tour.ts'

test('a site passes its users to the server, which checks their scopes', async () => {
  const users = new Map([
    ['Bearer ann', { sub: 'ann', scopes: ['orders:write'] }],
    ['Bearer bob', { sub: 'bob', scopes: ['orders:read'] }],
  ])
  const url = await listen(createHttp(createSite((header = '') => users.get(header))))
  const as = async (name: string): Promise<Client> => {
    const client = await connect(url, { headers: { authorization: `Bearer ${name}` } })
    onTestFinished(() => client.close())
    return client
  }
  expect(await (await as('ann')).call('cancel', { id: '7' })).toBe('ann cancelled order 7')
  for (const name of ['bob', 'eve'])
    await expect((await as(name)).call('cancel', { id: '7' })).rejects.toThrow('lacks orders:write')
})
