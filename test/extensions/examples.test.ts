import { expect, test } from 'vitest'
import { measure } from '../../examples/extensions/client.ts'
import { createStation } from '../../examples/extensions/server.ts'
import { nextTide } from '../../examples/extensions/tides.ts'

test('the example of extensions does what it tells, in memory and over HTTP', async () => {
  const told = ['the station is ok', 'measuring at north quay', 'wind 4', 'waves 1.5']
  expect(await measure(createStation())).toEqual(told)
  expect(await nextTide(createStation(), 'Bergen')).toBe('high water at 04:12, 1.4 m')
  const running = await createStation().listen({ http: { port: 0 } })
  expect(await measure(running.url as string)).toEqual(told)
  await running.close()
})
