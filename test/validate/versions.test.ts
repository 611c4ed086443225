import { CHANGE_RULES } from '../../src/validate/server-rules/changes.ts'
import { VERSION_RULES } from '../../src/validate/server-rules/versions.ts'
import type { App } from '../../src/index.ts'
import { createFixture } from './fixture.ts'
import { CHANGE_FAULTS, VERSION_FAULTS, VERSION_VARIANTS } from './modern-faults.ts'
import { prove } from './prove.ts'

/** The usual server with a tool that changes a list and a resource. */
function createChanging(): App {
  const app = createFixture()
  let turn = 0
  app.tool('change', { description: 'Changes a tool and a resource', input: { type: 'object' } }, () => {
    app.update('tool', 'change', { description: `Changes a tool and a resource, for the ${++turn}. time` })
    app.updated('test://text')
    return 'changed'
  })
  return app
}

prove('Versions', VERSION_RULES, VERSION_FAULTS, VERSION_VARIANTS)
prove('Changes', CHANGE_RULES, CHANGE_FAULTS, [], { createApp: createChanging })
