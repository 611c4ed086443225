import type { App } from 'pierhead'

/** Adds the tools that change the lists, so that clients are notified. */
export function addChanges(app: App): void {
  let hasTool = false
  app.tool('test_trigger_tool_change', { description: 'Adds a tool, or removes it again' }, () => {
    if (hasTool) app.remove('tool', 'test_passing_tool')
    else app.tool('test_passing_tool', { description: 'Is not always here' }, () => 'Still here')
    hasTool = !hasTool
    return 'The list of tools changed'
  })

  let hasPrompt = false
  app.tool('test_trigger_prompt_change', { description: 'Adds a prompt, or removes it again' }, () => {
    if (hasPrompt) app.remove('prompt', 'test_passing_prompt')
    else app.prompt('test_passing_prompt', { description: 'Is not always here' }, () => 'Still here')
    hasPrompt = !hasPrompt
    return 'The list of prompts changed'
  })
}
