{{- define "substrate.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "substrate.selector" -}}
app.kubernetes.io/name: substrate
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "substrate.labels" -}}
{{ include "substrate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "substrate.image" -}}
{{ .Values.image.repository }}
{{- if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end -}}

{{- define "substrate.secret" -}}
{{ .Values.secret.existing | default (include "substrate.name" .) }}
{{- end -}}

{{/* Where the store is, and every setting and secret: for the service and for the backup. */}}
{{- define "substrate.environment" -}}
envFrom:
  - configMapRef: {name: {{ include "substrate.name" . }}}
  - secretRef: {name: {{ include "substrate.secret" . }}}
{{- end -}}

{{/* A pod that may write nothing but its volumes. */}}
{{- define "substrate.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "substrate.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}
