import { expect, test } from 'vitest'
import { readableError } from './stack.ts'

const OWN = '    at refund (/shop/orders.ts:4:9)'
const INSTALLED = [
  '    at run (file:///shop/node_modules/pierhead/dist/index.js:1:1)',
  '    at C:\\shop\\node_modules\\pierhead\\dist\\index.js:1:1',
  '    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)',
  '    at node:internal/main/run_main_module:36:49',
]

test('the stack shows the frames of the program and of other packages, without those of this one and of Node', () => {
  const other = '    at query (/shop/node_modules/pg/lib/client.js:1:1)'
  const stack = ['Error: no order', 'on two lines', ...INSTALLED, OWN, other].join('\n')
  expect(readableError({ stack })).toBe(['Error: no order', 'on two lines', OWN, other].join('\n'))
})

test('a stack without frames of the program is left as it is', () => {
  const stack = ['Error: odd', ...INSTALLED].join('\n')
  expect(readableError({ stack })).toBe(stack)
})

test('causes follow, but not without end', () => {
  expect(readableError({ stack: `a\n${OWN}`, cause: { message: 'b' } })).toBe(`a\n${OWN}\ncaused by b`)
  const loop: { message: string; cause?: object } = { message: 'x' }
  loop.cause = loop
  expect(readableError(loop).split('caused by')).toHaveLength(5)
})
