/** The official stop reasons by their snake-case spelling, which is understood too. */
export const STOP_REASONS: ReadonlyMap<string, string> = new Map([
  ['end_turn', 'endTurn'],
  ['max_tokens', 'maxTokens'],
  ['stop_sequence', 'stopSequence'],
  ['tool_use', 'toolUse'],
])
