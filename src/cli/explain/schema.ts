/** The JSON Schema of `explain -o json`. docs/reference/explanation.schema.json is printed from it; programs may rely on it. */
import { reasonRows } from "../../api/reasons.ts";
import { outerCauseRows } from "./causes.ts";

const string = (description: string) => ({ type: "string", description });
const oneOf = (words: readonly string[], description: string) => ({ type: "string", enum: words, description });
const date = (description: string) => ({ type: "string", format: "date-time", description });
const list = (items: object, description: string) => ({ type: "array", items, description });
const object = (description: string, required: Readonly<Record<string, object>>, more: object = {}) => ({
  type: "object",
  description,
  required: Object.keys(required),
  properties: { ...required, ...more },
});

const ref = (description: string) =>
  object(
    description,
    { kind: string("Its kind, as VolumeSnapshot."), name: string("Its name.") },
    { namespace: string("Its namespace; absent: it is in none.") },
  );
const since = { since: date("Since when; absent: it is not known.") };
const code = oneOf(
  [...Object.keys(reasonRows), ...Object.keys(outerCauseRows)],
  "Why: a reason of docs/reference/reasons.md, or one of those that no controller sees.",
);
const says = string("A sentence that names the objects. Its words may change.");

export const explanationSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "https://snapkeep.dev/schemas/explanation-v1.json",
  title: "Explanation",
  ...object(
    "What `snapkeep explain KIND/NAME -o json` prints. Members keep their names and meanings; others may be added.",
    {
      apiVersion: oneOf(["snapkeep.dev/v1"], "Changes only when a member changes its meaning."),
      kind: oneOf(["Explanation"], "What this is."),
      time: date("The moment that is judged: now, or the newest date of the files."),
      object: ref("What was asked about."),
      verdict: oneOf(
        ["good", "waits", "stuck", "unknown"],
        "good: as it should be. waits: for no longer than usual. stuck: until somebody acts. unknown: what the answer needs cannot be read.",
      ),
      cause: object(
        "The one root cause.",
        {
          code,
          means: string("What the code means."),
          says,
          at: ref("The object on which the cause lies."),
          actor: oneOf(["nobody", "component", "driver", "user", "administrator"], "Who has to act."),
        },
        since,
      ),
      chain: list(
        object(
          "One link.",
          {
            object: ref("An object that waits for the next one."),
            code,
            says,
            evidence: list(string("A field or an event, with its words."), "What was seen."),
          },
          { phase: string("The name that the controller gives to the state."), ...since },
        ),
        "From the object that was asked about to the one at which the cause was found.",
      ),
      next: list(
        object(
          "One step.",
          { says },
          { command: string("To be typed as it stands: its words are quoted for a shell.") },
        ),
        "What to do, in the order in which to try it. No step takes a finalizer off or deletes data.",
      ),
      runs: list(
        object(
          "One component.",
          {
            component: oneOf(
              ["snapshot-controller", "csi-snapshotter", "csi-provisioner", "shared-resource"],
              "Which component.",
            ),
            state: oneOf(
              ["leads", "runs without lease", "idle", "absent", "unknown"],
              "Whether it acts. idle: nobody holds its lease, or its container does not run.",
            ),
          },
          {
            driver: string("The CSI driver beside which it runs."),
            program: oneOf(
              ["snapkeep", "external-snapshotter", "external-provisioner"],
              "Whose program it is, by its image.",
            ),
            release: string("Its release, by its image."),
            image: string("The image of its container."),
            lease: ref("Its lease."),
            renewed: date("When the lease was renewed last."),
            holder: string("Who holds the lease: the name of a pod or of a machine."),
            pod: ref("The pod that holds the lease."),
            problem: string("Why its container does not run."),
          },
        ),
        "Who acts on the objects of the chain.",
      ),
      notRead: list(string("A kind or an object."), "What could not be read, so that the answer may be incomplete."),
    },
  ),
} as const;
