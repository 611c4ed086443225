import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
import { scenario } from '../harness/scenario.ts'

const app = createServer({ name: 'drops', version: '1' }).tool(
  'drop',
  {},
  async (_, { progress, closeStream }) => {
    progress(1)
    closeStream(1)
    await new Promise((resolve) => setTimeout(resolve, 10))
    progress(2)
    return 'whole'
  },
)

scenario(
  'a stream that the server lets go of is taken up again, and nothing is lost or doubled [S3-9-11] [R094]',
  app,
  async (client) => {
    const result = await client.call('drop', {}, { meta: { progressToken: 'p' } })
    expect(result).toEqual({ content: [{ type: 'text', text: 'whole' }], isError: false })
    await client.settle()
    expect(client.heard('notifications/progress')).toEqual([
      { progressToken: 'p', progress: 1 },
      { progressToken: 'p', progress: 2 },
    ])
  },
)

scenario('so is one on which nothing was sent yet [S3-9-11] [R093] [R094]', app, async (client) => {
  expect((await client.call('drop'))['content']).toEqual([{ type: 'text', text: 'whole' }])
})
