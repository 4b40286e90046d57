package sandboxtest

// API keys of the other members of the seeded workspace.
const (
	KeyBob = "plane_api_sandbox_bob" // of Bob, a member
	KeyEve = "plane_api_sandbox_eve" // of Eve, a guest
)

// IDs of the seeded records.
const (
	UserAda               = "8d1e4cfe-937a-4aa2-be45-2f3453d8e8b4"
	UserBob               = "641a71bb-a191-42e7-a33d-e936ee973713"
	UserEve               = "33dc76ce-bfb9-450c-b813-b1e5836de318"
	ProjectWeb            = "556020b2-a2c9-4577-9eee-1fdf3a448fe1"
	ProjectOps            = "f537b6d0-3cc3-473e-8b23-0d902fd0044b"
	StateTodo             = "8089ebd4-bcaf-40c7-85ff-2f7df3444b1c"
	StateInProgress       = "84936c40-8544-425b-b09a-519919e55dcf"
	LabelBackend          = "77e50dc9-100e-472f-b0d7-602a0fd910d5"
	LabelFrontend         = "2c08e614-fcc3-4cbc-b96f-9ce70d31d854"
	LabelBug              = "6ae3db85-0c18-4090-bb3a-5fdb3dc2ebe4"
	LabelInfra            = "1c99690f-ea10-4138-93ca-c7cc08f9aa32"
	CycleSprint14         = "9be53832-c9d7-4815-9139-20dbbe244f49"
	CycleSprint15         = "d5e85d1f-ed29-44b5-b7b6-b94d96c2a602"
	ModuleCheckout        = "53081048-fa80-4ee8-8807-c023fdc2d15b"
	TypeStory             = "62ef588b-cee9-465b-a832-bdf1a3698031"
	TypeTask              = "e9e031e6-9682-4a1f-ac81-c9be6b0fd408"
	EstimateWeb           = "6a6b5f0c-3d0b-4b43-9d52-0c1f0b6f7a10"
	WorkItemWeb1          = "5bb762a8-b0d0-4962-9a27-5e9203cb8756"
	LinkWeb1              = "8130f42f-2098-4efe-a9ee-1ea1a86d6def"
	InitiativeNorth       = "089ed4fd-87f5-45e8-9c03-b24d590ab340"
	InitiativeLabelGrowth = "99c451c1-7ed3-4e12-a6ac-90df4adf2e51"
	TeamspacePlatform     = "9a8e6f8f-159a-4c67-8280-1e5c2024ef17"
	CustomerGlobex        = "caedfcea-1d7d-4f5c-9623-b8e6eb04b11d"
	CustomerInitech       = "aa184c6d-2f87-43e2-923f-0d78cf03c0df"
	RequestDarkMode       = "f9f9766c-b6e2-4cb2-9708-9dc8d31b83b4"
	PageWelcome           = "9d8689a7-15b0-4244-a430-21cd52e6f022"
)
