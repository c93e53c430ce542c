/** How long tests wait for what is to come; a busy machine may take so long for anything. */
export const PATIENCE = { timeout: 60_000, interval: 20 }

/** The same for what happens in this process, which is soon. */
export const IN_PROCESS = { ...PATIENCE, interval: 5 }
