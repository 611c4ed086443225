import { createServer, type App } from 'pierhead'
import { erlmcp } from 'pierhead/profiles'

/** A server with the erlmcp profile, except for batches, which it accepts only where the protocol has them. */
export const app: App = createServer({
  name: 'tower',
  version: '1.0.0',
  profile: erlmcp.with({ batch: 'by-revision' }),
})

app.tool('wind', { description: 'The wind at the tower.' }, () => '12 knots from the west')
