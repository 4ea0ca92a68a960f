/** The kinds that ask instead of storing: may this one do that, and what may I do at all? */
import type {
  NonResourceAttributes,
  ResourceAttributes,
  SubjectAccessReviewSpec,
} from "kubernetes-types/authorization/v1.js";
import type { JsonObject } from "../../base/json.ts";
import { rfc3339 } from "../../base/time.ts";
import { invalid } from "../../schema/field-error.ts";
import { part } from "../builtin/check.ts";
import type { ApiObject, Attributes, Context, FieldError, Strategy, User } from "../contracts.ts";
import { badRequest, Refusal, invalid as refusal } from "../status.ts";
import { createAuthorizer, isNamed } from "./authorize.ts";
import { allRules, bindings, type Rule } from "./rules.ts";

type Spec = SubjectAccessReviewSpec;
const specOf = (object: ApiObject): Spec => part(object, "spec") as unknown as Spec;

/** Kubernetes leaves the kind out of this one message. */
const unnamed = { group: "authorization.k8s.io", kind: "" };

const attributesOf = ({ resourceAttributes, nonResourceAttributes }: Spec): Attributes =>
  resourceAttributes === undefined
    ? { kind: "path", verb: nonResourceAttributes?.verb ?? "", path: nonResourceAttributes?.path ?? "" }
    : resourceRequest(resourceAttributes);

const resourceRequest = (given: ResourceAttributes): Attributes => ({
  kind: "resource",
  verb: given.verb ?? "",
  group: given.group ?? "",
  version: given.version ?? "",
  resource: given.resource ?? "",
  subresource: given.subresource ?? "",
  namespace: given.namespace ?? "",
  name: given.name ?? "",
});

/** Values in messages are shown as the internal Go structs, whose fields begin with capitals. */
const goNonResource = (given: NonResourceAttributes | undefined): JsonObject | null =>
  given === undefined ? null : { Path: given.path ?? "", Verb: given.verb ?? "" };

function specErrors(spec: Spec): readonly FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined)
    return [
      invalid(
        "spec.nonResourceAttributes",
        goNonResource(nonResourceAttributes),
        "cannot be specified in combination with resourceAttributes",
      ),
    ];
  if (resourceAttributes === undefined && nonResourceAttributes === undefined)
    return [
      invalid(
        "spec.resourceAttributes",
        null,
        "exactly one of nonResourceAttributes or resourceAttributes must be specified",
      ),
    ];
  return [];
}

const subjectErrors = ({ user = "", groups = [] }: Spec): readonly FieldError[] =>
  user === "" && groups.length === 0
    ? [invalid("spec.user", user, "at least one of user or group must be specified")]
    : [];

function localErrors(object: ApiObject): readonly FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = specOf(object);
  const errors: FieldError[] = [];
  const namespace = resourceAttributes?.namespace ?? "";
  if (resourceAttributes !== undefined && namespace !== (object.metadata.namespace ?? ""))
    errors.push(invalid("spec.resourceAttributes.namespace", namespace, "must match metadata.namespace"));
  if (nonResourceAttributes !== undefined)
    errors.push(
      invalid("spec.nonResourceAttributes", goNonResource(nonResourceAttributes), "disallowed on this kind of request"),
    );
  return errors;
}

function refuseIfAny(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw refusal(unnamed, "", errors);
}

/** The review with its answer; `who` is the one asked about. */
function answered(object: ApiObject, who: User, context: Context): ApiObject {
  const { allowed, reason } = createAuthorizer(context.reader).authorize(who, attributesOf(specOf(object)));
  return { ...object, status: { allowed, ...(reason === "" ? {} : { reason }) } };
}

const subjectOf = ({ user = "", groups = [], uid }: Spec): User => ({
  name: user,
  groups,
  ...(uid === undefined ? {} : { uid }),
});

const subjectReview: Strategy = {
  answer: async (object, context) => {
    refuseIfAny([...specErrors(specOf(object)), ...subjectErrors(specOf(object))]);
    return answered(object, subjectOf(specOf(object)), context);
  },
};

const localReview: Strategy = {
  answer: async (object, context) => {
    refuseIfAny([...specErrors(specOf(object)), ...subjectErrors(specOf(object)), ...localErrors(object)]);
    return answered(object, subjectOf(specOf(object)), context);
  },
};

const selfReview: Strategy = {
  answer: async (object, context) => {
    refuseIfAny(specErrors(specOf(object)));
    return answered(object, context.user, context);
  },
};

const everything: Rule = { verbs: ["*"], apiGroups: ["*"], resources: ["*"] };
const everyPath: Rule = { verbs: ["*"], nonResourceURLs: ["*"] };

function rulesFor(user: User, namespace: string, context: Context): readonly Rule[] {
  const own = [...bindings(context.reader, namespace)].flatMap(({ role, subjects, namespace: where }) =>
    role !== undefined && subjects.some((subject) => isNamed(subject, user, where)) ? allRules(role) : [],
  );
  return user.groups.includes("system:masters") ? [everything, everyPath, ...own] : own;
}

const rulesReview: Strategy = {
  answer: async (object, context) => {
    const { namespace } = part(object, "spec");
    if (typeof namespace !== "string" || namespace === "") throw badRequest("no namespace on request");
    const rules = rulesFor(context.user, namespace, context);
    const paths = rules.filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0);
    const resources = rules.filter(({ resources = [] }) => resources.length > 0);
    return {
      apiVersion: object.apiVersion,
      kind: object.kind,
      metadata: {},
      spec: {},
      status: {
        resourceRules: resources.map(shownRule),
        nonResourceRules: paths.map(shownRule),
        incomplete: false,
      },
    };
  },
};

const shownRule = (rule: Rule): JsonObject => ({ ...rule }) as unknown as JsonObject;

/** Who am I, as `kubectl auth whoami` asks. */
const whoAmI: Strategy = {
  answer: async (object, { user, world }) => ({
    ...object,
    metadata: { ...object.metadata, creationTimestamp: rfc3339(world.now()) },
    status: {
      userInfo: {
        username: user.name,
        ...(user.uid === undefined ? {} : { uid: user.uid }),
        groups: [...user.groups],
      },
    },
  }),
};

/** Tokens are known where connections are taken, not here. */
const tokenReview: Strategy = {
  answer: async () => {
    throw new Refusal(501, "NotImplemented", "tokenreviews is not served by the embedded API server");
  },
};

export const reviewStrategies: Readonly<Record<string, Strategy>> = {
  "authorization.k8s.io/SubjectAccessReview": subjectReview,
  "authorization.k8s.io/SelfSubjectAccessReview": selfReview,
  "authorization.k8s.io/LocalSubjectAccessReview": localReview,
  "authorization.k8s.io/SelfSubjectRulesReview": rulesReview,
  "authentication.k8s.io/SelfSubjectReview": whoAmI,
  "authentication.k8s.io/TokenReview": tokenReview,
};
