/**
 * The server under test for the official conformance suite, on every runtime: one definition, hosted by
 * `everything-server.ts` and similar files.
 *
 * What the scenarios of the suite (0.2.0-alpha.12) expect of a server under test:
 *
 * - Every tool, resource and prompt has a `description`. The first tool of the list can be called
 *   without arguments and has no `x-mcp-header` annotation (`http-header-validation` calls it).
 * - Content (`tools-call-*`): `test_simple_text`, `test_image_content`, `test_audio_content`,
 *   `test_embedded_resource`, `test_multiple_content_types`; `test_error_handling` is a result with
 *   `isError`.
 * - Notifications: `test_tool_with_progress` reports 0, 50 and 100 of 100; `test_tool_with_logging` logs
 *   three messages at `info`, 50 ms apart, after `logging/setLevel`; `test_logging_tool` logs, and no
 *   message may arrive because the request names no level.
 * - Server requests (legacy): `test_sampling` `{ prompt }`, `test_elicitation` `{ message }`,
 *   `test_elicitation_sep1034_defaults`, `test_elicitation_sep1330_enums`.
 * - Requests for input by `input_required` (modern): `test_input_required_result_elicitation` asks under
 *   the key `user_name` and accepts that response even without a `requestState`; `…_sampling`,
 *   `…_list_roots`; `…_multiple_inputs` asks for three kinds in one round; `…_multi_round` asks twice,
 *   with a different `requestState`; `…_request_state`; `…_tampered_state` rejects a modified state with
 *   an error; `…_capabilities` asks only for what the client declared (sampling, no elicitation); the
 *   prompt `test_input_required_result_prompt`. `test_streaming_elicitation` sends no request of its own
 *   on the stream. `test_missing_capability` needs `sampling`, which the client lacks: HTTP 400 and -32021
 *   with `data.requiredCapabilities.sampling`.
 * - Changes: `test_trigger_tool_change` and `test_trigger_prompt_change` change a list while a
 *   `subscriptions/listen` stream is open, which must be notified within 1.5 s, after the acknowledgement,
 *   with the subscription's id, and only of what it subscribed to.
 * - Schemas: `json_schema_2020_12_tool` keeps every keyword; some tool has a string argument with
 *   `x-mcp-header`, whose header must be present, be valid Base64 if it is encoded, and match the body.
 * - Resources: `test://static-text`, `test://static-binary`, `test://watched-resource` (subscribed to
 *   and unsubscribed from), `test://template/{id}/data`; an unknown URI is an error with `data.uri`.
 * - Prompts: `test_simple_prompt`, `test_prompt_with_arguments` (whose `arg1` is completed),
 *   `test_prompt_with_embedded_resource`, `test_prompt_with_image`.
 * - Skills: `io.modelcontextprotocol/skills` with `directoryRead`; some skill contains a folder, and its
 *   `SKILL.md` is listed as a resource with the name and description of its frontmatter.
 * - Tasks: `greet` never runs as a task; `slow_compute` `{ seconds, label }` does if possible, and stops
 *   when it is cancelled; `failing_job` must run as one and returns `isError` after a second;
 *   `protocol_error_job` fails; `confirm_delete` asks once, `multi_input` asks for two inputs at once;
 *   `test_tool_with_task` asks for `user_name` before it becomes a task.
 * - Transport: requests with a non-local Host or Origin are rejected with a 4xx; a session ends with
 *   DELETE and then returns 404; `test_reconnection` ends its stream, which started with an event that had
 *   an id, no data and a `retry`, and answers on a GET with `Last-Event-ID`.
 *
 * @see https://github.com/modelcontextprotocol/conformance
 */
import { createServer, type Server } from '../src/presets/server.ts'
import type { TaskStore } from '../src/tasks/index.ts'
import { registerPrompts } from './fixtures/prompts.ts'
import { registerPushedQuestions, registerReplayedQuestions } from './fixtures/questions.ts'
import { registerResources } from './fixtures/resources.ts'
import { everySkill } from './fixtures/skills.ts'
import { registerTasks } from './fixtures/tasks.ts'
import {
  registerChangingTools,
  registerContentTools,
  registerNotifyingTools,
  registerPollingTool,
  registerSchemaTools,
} from './fixtures/tools.ts'

/**
 * Creates the everything-server.
 *
 * @param taskStore Stores the tasks. Default: the memory of the process.
 */
export function createEverythingServer(taskStore?: TaskStore): Server {
  const server = createServer(
    { name: 'edgewise-everything', version: '1.0.0' },
    { instructions: 'The fixtures of the conformance suite' },
  )
  registerContentTools(server)
  registerNotifyingTools(server)
  registerPollingTool(server)
  registerChangingTools(server)
  registerSchemaTools(server)
  registerPushedQuestions(server)
  registerReplayedQuestions(server)
  registerResources(server)
  registerPrompts(server)
  server.extend(everySkill())
  registerTasks(server, taskStore)
  return server
}
