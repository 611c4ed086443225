import { defineTools } from 'pierhead'

export const { whoami, erase } = defineTools({
  whoami: {
    description: 'Tells who the caller is.',
    hints: { readOnly: true },
    run: (_, { auth }) => `You are ${auth?.sub ?? 'on this machine'}.`,
  },
  erase: {
    description: 'Erases all notes. Needs another scope, which clients ask their user for.',
    scopes: ['notes:write'],
    hints: { destructive: true },
    run: () => 'All notes are gone.',
  },
})
