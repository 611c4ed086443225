import { createServer, type App } from 'pierhead'
import { MODULES } from './modules.ts'

const app: App = createServer({
  name: 'toolbox',
  version: '1.0.0',
  title: 'Toolbox',
  description: 'Small tools that work offline: text, numbers, dates, data and more.',
  instructions:
    'Use these tools where exact results matter, such as sums, dates, hashes and conversions, instead of estimating them.',
})

for (const tools of Object.values(MODULES)) app.add(tools)

export default app
